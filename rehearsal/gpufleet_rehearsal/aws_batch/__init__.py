"""AWS Batch, the logs, images and objects of a simulated AWS, as a rehearsal plays them."""
