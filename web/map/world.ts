import type { Feature, FeatureCollection, MultiLineString, MultiPolygon, Polygon, Position } from 'geojson'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import fine from 'world-atlas/countries-50m.json?url'
import coarse from 'world-atlas/countries-110m.json?url'
import { countryName } from './country-codes.ts'
import type { MapLabel } from './label-places.ts'
import { toWorld } from './mercator.ts'
import { unwrapRing } from './unwrap-ring.ts'

/** The countries of the world as the map draws them. */
export interface World {
  land: FeatureCollection<Polygon | MultiPolygon, { name: string }>
  borders: MultiLineString
  /** Their names, the largest country first. */
  labels: MapLabel[]
}

type Atlas = Topology<{ countries: GeometryCollection<{ name: string }> }>

const FILES = { coarse, fine }
const loaded = new Map<keyof typeof FILES, Promise<Atlas>>()

/** The outlines of the countries, from this server: `coarse` to begin with, `fine` where one looks closer. */
export async function loadWorld(detail: keyof typeof FILES, locale: string): Promise<World> {
  const known = loaded.get(detail)
  const reading = known ?? fetchAtlas(FILES[detail])
  loaded.set(detail, reading)
  try {
    const atlas = await reading
    const { countries } = atlas.objects
    const land = feature(atlas, countries) as World['land']
    for (const { geometry } of land.features) {
      const parts = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
      for (const part of parts) for (const [at, ring] of part.entries()) part[at] = unwrapRing(ring)
    }
    return {
      land,
      borders: mesh(atlas, countries, (a, b) => a !== b),
      labels: land.features.map((country) => labelOf(country, locale)).sort((a, b) => b.width - a.width),
    }
  } catch (error) {
    // The next map asks again.
    loaded.delete(detail)
    throw error
  }
}

async function fetchAtlas(url: string): Promise<Atlas> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return answer.json()
}

/** The name of a country, in the middle of the largest part of its land. */
function labelOf({ id, properties, geometry }: Feature<Polygon | MultiPolygon>, locale: string): MapLabel {
  const parts = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  let best = { area: -1, x: 0, y: 0, width: 0 }
  for (const [ring] of parts) {
    const part = centreOf(ring ?? [])
    if (part.area > best.area) best = part
  }
  const name = countryName(id === undefined ? undefined : String(id), locale, String(properties?.name ?? ''))
  return { name, x: best.x % 1, y: best.y, width: best.width }
}

/** Centre of gravity, area and width of a ring, on the square of the world. */
function centreOf(ring: readonly Position[]): { area: number; x: number; y: number; width: number } {
  const points = ring.map(([lng = 0, lat = 0]) => toWorld({ lng, lat }))
  let twice = 0
  let x = 0
  let y = 0
  for (const [at, point] of points.entries()) {
    const next = points[(at + 1) % points.length] ?? point
    const cross = point.x * next.y - next.x * point.y
    twice += cross
    x += (point.x + next.x) * cross
    y += (point.y + next.y) * cross
  }
  const xs = points.map((point) => point.x)
  const width = Math.max(...xs) - Math.min(...xs)
  if (twice === 0) return { area: 0, x: points[0]?.x ?? 0, y: points[0]?.y ?? 0, width }
  return { area: Math.abs(twice / 2), x: x / (3 * twice), y: y / (3 * twice), width }
}
