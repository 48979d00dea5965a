"""Jobs on own servers without a scheduler: mpirun over ssh, with files that all of them share."""
