"""The pure middle of waypost: standard library only, no clock, no logging, no I/O."""
