#!/usr/bin/env python3
"""Prints C code that compiles, with all warnings as errors, if the structures and numbers of bounds_kjit.py are kjit.h's:
sizes, places, and that there are no fields more."""
import ctypes as c

import bounds_kjit


def equal(what, number):
    print(f'_Static_assert({what} == {number}, "{what} == {number}");')


def compare_fields(name, of, inside="", at=0):
    for field, t in of._fields_:
        equal(f"offsetof({name}, {inside}{field})", at + getattr(of, field).offset)
        equal(f"sizeof (({name} *)0)->{inside}{field}", c.sizeof(t))


def compare(name, of):
    equal(f"sizeof({name})", c.sizeof(of))
    compare_fields(name, of)
    for field, t in of._fields_:
        if issubclass(t, c.Union):
            compare_fields(name, t, field + ".", getattr(of, field).offset)
    values = ["{0}" if issubclass(t, (c.Array, c.Union)) else "0" for _, t in of._fields_]
    print(f"extern const {name} all_of_{name};")
    print(f"const {name} all_of_{name} = {{{', '.join(values)}}}; /* one fewer is a warning */")


print("#include <kjit.h>\n#include <stddef.h>")
for name, of in bounds_kjit.STRUCTURES.items():
    compare(name, of)
for name, number in bounds_kjit.NUMBERS.items():
    equal(name, number)
