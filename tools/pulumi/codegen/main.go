// Command codegen writes the SDKs of a Pulumi package in Python, TypeScript and Go from its schema, with the engine's
// own code generators: what `pulumi package add` does where the language hosts are installed.
//
//	codegen SCHEMA FOLDER
//
// makes FOLDER/python, FOLDER/nodejs and FOLDER/go. Nothing is read but the schema.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/blang/semver"
	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "gpufleet"

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("give a schema file and a folder"))
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fail(fmt.Errorf("%s: %w", os.Args[1], err))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "codegen:", err)
	os.Exit(1)
}

func generate(file, folder string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	writers := map[string]func(*schema.Package) (map[string][]byte, error){
		"python": func(pkg *schema.Package) (map[string][]byte, error) {
			return python.GeneratePackage(tool, pkg, nil, alone{})
		},
		"nodejs": func(pkg *schema.Package) (map[string][]byte, error) {
			return nodejs.GeneratePackage(tool, pkg, nil, nil, true, alone{})
		},
		"go": func(pkg *schema.Package) (map[string][]byte, error) {
			return gogen.GeneratePackage(tool, pkg, nil)
		},
	}
	for language, write := range writers {
		// Each for itself: a generator changes what it is given.
		pkg, err := bind(text)
		if err != nil {
			return err
		}
		files, err := write(pkg)
		if err != nil {
			return fmt.Errorf("%s: %w", language, err)
		}
		for name, content := range files {
			target := filepath.Join(folder, language, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(target, content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func bind(text []byte) (*schema.Package, error) {
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	pkg, diagnostics, err := schema.BindSpec(spec, alone{}, schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	if diagnostics.HasErrors() {
		return nil, diagnostics
	}
	// As `pulumi package add` has it: the Go SDK is a module of its own.
	pkg.SupportPack = true
	return pkg, nil
}

// alone loads no other package: a schema of ours refers to none.
type alone struct{}

func (alone) LoadPackage(name string, _ *semver.Version) (*schema.Package, error) {
	return nil, fmt.Errorf("the schema refers to the package %s; schemas of gpufleet refer to none", name)
}

func (loader alone) LoadPackageV2(_ context.Context, wanted *schema.PackageDescriptor) (*schema.Package, error) {
	return loader.LoadPackage(wanted.Name, wanted.Version)
}

func (loader alone) LoadPackageReference(name string, version *semver.Version) (schema.PackageReference, error) {
	_, err := loader.LoadPackage(name, version)
	return nil, err
}

func (loader alone) LoadPackageReferenceV2(
	_ context.Context, wanted *schema.PackageDescriptor,
) (schema.PackageReference, error) {
	return loader.LoadPackageReference(wanted.Name, wanted.Version)
}
