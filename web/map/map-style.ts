import type { StyleSpecification } from 'maplibre-gl'
import type { MapTiles } from './map-tiles.ts'

const NOTHING = { type: 'FeatureCollection' as const, features: [] }

/** The looks of a map: pictures of a tile server, or the countries in the colours of the app. */
export function mapStyle(tiles: MapTiles | null, element: Element): StyleSpecification {
  const tokens = getComputedStyle(element)
  const color = (token: string) => tokens.getPropertyValue(token).trim()
  const sea = {
    id: 'sea',
    type: 'background' as const,
    paint: { 'background-color': color('--color-map-sea') },
  }
  if (tiles) {
    return {
      version: 8,
      sources: { tiles: { type: 'raster', tiles: [tiles.url], tileSize: 256, maxzoom: 19 } },
      layers: [sea, { id: 'tiles', type: 'raster', source: 'tiles' }],
    }
  }
  return {
    version: 8,
    sources: {
      land: { type: 'geojson', data: NOTHING },
      borders: { type: 'geojson', data: NOTHING },
    },
    layers: [
      sea,
      { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': color('--color-map-land') } },
      {
        id: 'coast',
        type: 'line',
        source: 'land',
        paint: { 'line-color': color('--color-map-coast'), 'line-width': 0.8 },
      },
      {
        id: 'borders',
        type: 'line',
        source: 'borders',
        paint: { 'line-color': color('--color-map-border'), 'line-width': 0.8 },
      },
    ],
  }
}
