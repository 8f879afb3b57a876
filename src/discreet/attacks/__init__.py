"""What an attacker gets out of a release: risks, and linkage with an outside file."""
