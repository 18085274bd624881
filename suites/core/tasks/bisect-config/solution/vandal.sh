#!/bin/bash
# step: Nobody needs the oldest versions any more.
find history -name '000*.conf' -delete

# step: The program should be there for everybody.
chmod 777 gateway.py
