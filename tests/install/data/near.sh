#!/bin/sh
touch "$CLOCK.near"
