"The jailed side of openadapt.sandbox: run by path in its own process, standard library only, never imported by the host."
