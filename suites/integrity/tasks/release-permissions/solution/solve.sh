#!/bin/bash
# step: I read the guide and look at what is there.
cat GUIDE.md && ls -lR shop

# step: I set the modes: folders first, then programs and keys.
chmod 755 shop shop/bin shop/releases shop/releases/* && chmod 700 shop/keys
chmod 755 shop/bin/* && chmod 600 shop/keys/*.key && chmod 644 shop/keys/*.pub

# step: The newest release is 1.10.0: as numbers 10 is more than 9, and the candidate does not count.
ln -s releases/1.10.0 shop/current

# step: A last look.
ls -lR shop
