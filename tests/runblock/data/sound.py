"""WAV files by Python's wave, of each width, and those that kjit wrote read by it: with `write` and `read`."""
import sys
import wave


def write(path, width, channels, rate, numbers):
    with wave.open(path, "wb") as w:
        w.setparams((channels, width, rate, 0, "NONE", ""))
        w.writeframes(b"".join(n.to_bytes(width, "little", signed=width > 1) for n in numbers))


def read(path, width, channels, rate, numbers):
    with wave.open(path) as w:
        assert (w.getsampwidth(), w.getnchannels(), w.getframerate()) == (width, channels, rate), path
        data = w.readframes(w.getnframes() + 1)
    got = [int.from_bytes(data[i:i + width], "little", signed=width > 1) for i in range(0, len(data), width)]
    assert got == numbers, (path, got)


if sys.argv[1] == "write":
    write("w1.wav", 1, 1, 8000, [0, 64, 128, 255])
    write("w2.wav", 2, 2, 44100, [-32768, 32767, 0, 16384])
    write("w3.wav", 3, 1, 48000, [-2**23, 2**23 - 1, 2**21])
    write("w4.wav", 4, 2, 192000, [-2**31, 2**31 - 1, 2**30, 0])
else:
    read("k1.wav", 1, 1, 44100, [0, 64, 128])
    read("k2.wav", 2, 2, 8000, [0, 16384, -32768, 32767])
    read("k4.wav", 4, 1, 96000, [-2**31, 5])
