"""OpenEnv packages that ship with OpenAdapt."""
