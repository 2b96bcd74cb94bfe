"Training from the command line: `train_grpo`, `export_submission_artifacts`."
