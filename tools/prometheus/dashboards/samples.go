package main

import (
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// samples is what the engine reads instead of Prometheus' database, whose package brings the SDKs of three clouds.
type samples struct {
	byLabels map[string]*held
}

type held struct {
	labels labels.Labels
	points []chunks.Sample
}

func (known *samples) add(of labels.Labels, at int64, value float64) {
	key := of.String()
	if known.byLabels[key] == nil {
		known.byLabels[key] = &held{labels: of}
	}
	known.byLabels[key].points = append(known.byLabels[key].points, point{at, value})
}

// Querier is what the engine asks for.
func (known *samples) Querier(from, to int64) (storage.Querier, error) {
	return &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			var found []storage.Series
			for _, each := range known.byLabels {
				if matches(each.labels, matchers) {
					slices.SortStableFunc(each.points, func(one, other chunks.Sample) int { return int(one.T() - other.T()) })
					within := slices.DeleteFunc(slices.Clone(each.points), func(p chunks.Sample) bool { return p.T() < from || p.T() > to })
					found = append(found, storage.NewListSeries(each.labels, within))
				}
			}
			slices.SortFunc(found, func(one, other storage.Series) int { return labels.Compare(one.Labels(), other.Labels()) })
			return &listed{all: found, at: -1}
		},
	}, nil
}

func matches(of labels.Labels, matchers []*labels.Matcher) bool {
	return !slices.ContainsFunc(matchers, func(each *labels.Matcher) bool { return !each.Matches(of.Get(each.Name)) })
}

type listed struct {
	all []storage.Series
	at  int
}

func (set *listed) Next() bool                        { set.at++; return set.at < len(set.all) }
func (set *listed) At() storage.Series                { return set.all[set.at] }
func (set *listed) Err() error                        { return nil }
func (set *listed) Warnings() annotations.Annotations { return nil }

// point is one number at a time in milliseconds.
type point struct {
	at    int64
	value float64
}

func (p point) T() int64                      { return p.at }
func (p point) ST() int64                     { return 0 }
func (p point) F() float64                    { return p.value }
func (p point) H() *histogram.Histogram       { return nil }
func (p point) FH() *histogram.FloatHistogram { return nil }
func (p point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample           { return p }
