// Renders the chart in deploy/helm/gatehouse as Helm does, with its template engine, functions and YAML: Go's text/template, sprig and
// ghodss/yaml, all packages of Debian. Values come from values.yaml and, over them, from a YAML document on standard input.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run tests/render-chart.go deploy/helm/gatehouse < values.yaml
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

type values = map[string]interface{}

func main() {
	if err := render(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(chart string, given io.Reader, out io.Writer) error {
	var about, all, over values
	if err := readYaml(filepath.Join(chart, "Chart.yaml"), &about); err != nil {
		return err
	}
	if err := readYaml(filepath.Join(chart, "values.yaml"), &all); err != nil {
		return err
	}
	text, err := io.ReadAll(given)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &over); err != nil {
		return err
	}
	templates, err := parse(chart)
	if err != nil {
		return err
	}
	top := values{
		"Values":       merge(all, over),
		"Release":      values{"Name": "gatehouse", "Namespace": "default", "Service": "Helm", "Revision": 1, "IsInstall": true, "IsUpgrade": false},
		"Chart":        values{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Capabilities": values{"KubeVersion": values{"Version": "v1.30.0"}},
	}
	names := []string{}
	for _, one := range templates.Templates() {
		if strings.HasSuffix(one.Name(), ".yaml") {
			names = append(names, one.Name())
		}
	}
	sort.Strings(names)
	for _, name := range names {
		var rendered bytes.Buffer
		if err := templates.ExecuteTemplate(&rendered, name, top); err != nil {
			return err
		}
		// Helm prints a missing value of an interface as nothing.
		for _, document := range strings.Split("\n"+strings.ReplaceAll(rendered.String(), "<no value>", ""), "\n---") {
			if text := strings.TrimSpace(document); text != "" {
				fmt.Fprintf(out, "---\n# Source: %s\n%s\n", name, text)
			}
		}
	}
	return nil
}

func readYaml(path string, into *values) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

// Members of over win; null removes one.
func merge(all, over values) values {
	for name, value := range over {
		nested, isNested := value.(values)
		under, hasUnder := all[name].(values)
		switch {
		case value == nil:
			delete(all, name)
		case isNested && hasUnder:
			all[name] = merge(under, nested)
		default:
			all[name] = value
		}
	}
	return all
}

func parse(chart string) (*template.Template, error) {
	templates := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := templates.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	functions["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	templates.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if _, err := templates.New("gatehouse/templates/" + filepath.Base(path)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	return templates, nil
}
