"""Files of an environment in its Azure storage account: blobs of its containers, and its file shares."""
