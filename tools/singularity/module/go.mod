module gpufleet.dev/tools/singularity

go 1.23.4

require github.com/sylabs/singularity/v4 v4.3.0
