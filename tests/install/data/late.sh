#!/bin/sh
touch "$CLOCK.late"
echo "I need more time"
exit 1
