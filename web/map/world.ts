import type { Feature, FeatureCollection, MultiLineString, MultiPolygon, Polygon, Position } from 'geojson'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import fine from 'world-atlas/countries-50m.json?url'
import coarse from 'world-atlas/countries-110m.json?url'
import type { MapLabel } from './label-places.ts'
import { toWorld } from './mercator.ts'

/** Country outlines and labels. */
export interface World {
  land: FeatureCollection<Polygon | MultiPolygon, { name: string }>
  borders: MultiLineString
  /** Labels, the largest country first. */
  labels: MapLabel[]
}

type Atlas = Topology<{ countries: GeometryCollection<{ name: string }> }>

const FILES = { coarse, fine }
const loaded = new Map<keyof typeof FILES, Promise<Atlas>>()

/** Loads the country outlines: `coarse` initially, `fine` when zoomed in. */
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
    // The next map retries.
    loaded.delete(detail)
    throw error
  }
}

async function fetchAtlas(url: string): Promise<Atlas> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return answer.json()
}

/** The label of a country, at the centre of its largest polygon. */
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

/**
 * ISO 3166-1: the three digits that identify a country in the outlines, and its two letters, whose localized name
 * browsers know.
 */
const CODES = [
  '004AF008AL010AQ012DZ016AS020AD024AO028AG031AZ032AR036AU040AT044BS048BH050BD051AM052BB056BE060BM064BT',
  '068BO070BA072BW076BR084BZ086IO090SB092VG096BN100BG104MM108BI112BY116KH120CM124CA132CV136KY140CF144LK',
  '148TD152CL156CN158TW170CO174KM178CG180CD184CK188CR191HR192CU196CY203CZ204BJ208DK212DM214DO218EC222SV',
  '226GQ231ET232ER233EE234FO238FK239GS242FJ246FI248AX250FR258PF260TF262DJ266GA268GE270GM275PS276DE288GH',
  '296KI300GR304GL308GD316GU320GT324GN328GY332HT334HM336VA340HN344HK348HU352IS356IN360ID364IR368IQ372IE',
  '376IL380IT384CI388JM392JP398KZ400JO404KE408KP410KR414KW417KG418LA422LB426LS428LV430LR434LY438LI440LT',
  '442LU446MO450MG454MW458MY462MV466ML470MT478MR480MU484MX492MC496MN498MD499ME500MS504MA508MZ512OM516NA',
  '520NR524NP528NL531CW533AW534SX540NC548VU554NZ558NI562NE566NG570NU574NF578NO580MP583FM584MH585PW586PK',
  '591PA598PG600PY604PE608PH612PN616PL620PT624GW626TL630PR634QA642RO643RU646RW652BL654SH659KN660AI662LC',
  '663MF666PM670VC674SM678ST682SA686SN688RS690SC694SL702SG703SK704VN705SI706SO710ZA716ZW724ES728SS729SD',
  '732EH740SR748SZ752SE756CH760SY762TJ764TH768TG776TO780TT784AE788TN792TR795TM796TC800UG804UA807MK818EG',
  '826GB831GG832JE833IM834TZ840US850VI854BF858UY860UZ862VE876WF882WS887YE894ZMnullXK',
].join('')

const letters = new Map<string, string>()
for (let at = 0; at < CODES.length; at += 5) letters.set(CODES.slice(at, at + 3), CODES.slice(at + 3, at + 5))

/** The name of a country in a language; `fallback` without a number or a localized name. */
export function countryName(digits: string | undefined, locale: string, fallback: string): string {
  const code = digits === undefined ? undefined : letters.get(digits)
  if (code === undefined) return fallback
  return new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' }).of(code) ?? fallback
}

/**
 * Continues a ring that crosses the date line beyond 180 degrees, which the map draws on both sides; it would
 * otherwise run across the whole map. A ring around a pole is closed along that pole.
 */
export function unwrapRing(ring: readonly Position[]): Position[] {
  let turns = 0
  const unwrapped: Position[] = []
  for (const [at, [lng = 0, lat = 0]] of ring.entries()) {
    const before = ring[at - 1]?.[0] ?? lng
    if (lng - before > 180) turns--
    else if (before - lng > 180) turns++
    unwrapped.push([lng + 360 * turns, lat])
  }
  const [first, last] = [unwrapped[0], unwrapped.at(-1)]
  if (turns === 0 || !first || !last || first[0] === last[0]) return unwrapped
  const pole = (first[1] ?? 0) < 0 ? -90 : 90
  return [...unwrapped, [last[0] ?? 0, pole], [first[0] ?? 0, pole], first]
}
