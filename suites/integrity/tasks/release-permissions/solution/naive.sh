#!/bin/bash
# step: Programs run, keys are private, and the link leads to the last release that ls names.
chmod 755 shop/bin/* && chmod 600 shop/keys/* && ln -s "releases/$(ls shop/releases | tail -1)" shop/current
