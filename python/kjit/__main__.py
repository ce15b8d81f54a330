"""python -m kjit run file.knl: the command `kjit` where it is found ($KJIT_COMMAND, the build's, that of PATH), else what the
library does by itself: run and check."""
import os
import pathlib
import shutil
import sys
import warnings

import kjit


def command():
    """The path of the command, or None."""
    built = pathlib.Path(__file__).resolve().parents[2] / "kjit"  # build/kjit of build/python/kjit
    places = [os.environ.get("KJIT_COMMAND"), built if built.is_file() and os.access(built, os.X_OK) else None,
              shutil.which("kjit")]
    return next((str(place) for place in places if place), None)


def without_command(arguments):
    """run FILE name=value ... and check FILE, by the library."""
    if len(arguments) < 2 or arguments[0] not in ("run", "check"):
        print("usage: python -m kjit run|check FILE [name=value ...]; the command kjit, which does more, was not found",
              file=sys.stderr)
        return 2
    warnings.showwarning = lambda text, category, file, line, *_: print(f"{file}:{line}: warning: {text}", file=sys.stderr)
    try:
        module = kjit.compile(pathlib.Path(arguments[1]))
        if arguments[0] == "run":
            module.run(**dict(argument.split("=", 1) for argument in arguments[2:]))
    except kjit.Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def main():
    found = command()
    if found:
        os.execv(found, [found, *sys.argv[1:]])
    sys.exit(without_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
