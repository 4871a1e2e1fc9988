import type { Marker } from 'maplibre-gl'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { Presence } from '../../../../../src/core/presence.ts'
import type { GridRow } from '../../../../grid/contract.ts'
import { formatNumber } from '../../../../i18n.ts'
import { type Cluster, clusterPoints } from '../../../../map/clusters.ts'
import { boundsOf, fromWorld, type LngLat } from '../../../../map/mercator.ts'
import type { WorldMap } from '../../../../map/world-map.ts'
import { m } from '../../../../messages.gen.ts'
import type { LocatedRecord } from '../../../../records/layouts/map-layout.ts'
import { colorOf } from '../../../../ui/avatar.tsx'
import type { RowColor } from '../../coloring/row-colors.ts'
import styles from './map.module.css'

/** Callbacks of the pins. */
export interface PinEvents {
  /** Accessible name and tooltip of a pin. */
  titleOf(row: GridRow): string
  colorOf(row: GridRow): RowColor | null
  canMove(): boolean
  /** The other people at records. */
  people(): ReadonlyMap<RecordId, Presence>
  onOpen(record: LocatedRecord): void
  onHover(record: LocatedRecord | null): void
  onMove(record: LocatedRecord, to: LngLat): void
  onMenu(record: LocatedRecord, at: { x: number; y: number }): void
  /** Element of a cluster that no zoom can split. */
  onStack(records: readonly LocatedRecord[], element: HTMLElement): void
}

export type Pins = ReturnType<typeof createPins>

/** Locations closer than this, about ten metres, cannot be separated by zooming. */
const SAME_DEGREES = 0.0001

interface MountedPin {
  marker: Marker
  element: HTMLButtonElement
  cluster: Cluster<LocatedRecord>
}

const withPerson = (label: string, person: Presence | undefined): string => {
  if (!person) return label
  const { name, isEditing } = person
  return isEditing ? m.map_pin_edited_by({ pin: label, name }) : m.map_pin_with({ pin: label, name })
}

/** Shows the name of a person beside a pin, in the colour of their outlines. */
function showPerson(element: HTMLElement, person: Presence | undefined): void {
  const known = element.querySelector<HTMLElement>('[data-testid="record-mark"]')
  if (!person) {
    known?.remove()
    return
  }
  const mark = known ?? element.appendChild(document.createElement('span'))
  mark.className = styles.person ?? ''
  mark.dataset.testid = 'record-mark'
  mark.dir = 'auto'
  mark.style.background = colorOf(person.userId)
  mark.textContent = person.name
}

/** The pins of a map. Only visible ones are mounted; close ones are clustered. */
export function createPins(map: WorldMap, events: () => PinEvents) {
  const mounted = new Map<string, MountedPin>()
  let records: readonly LocatedRecord[] = []
  let activeId: RecordId | null = null
  let dragged: string | null = null

  function draw(): void {
    const { zoom, box } = map.view()
    const clusters = clusterPoints(records, zoom, box)
    const keys = new Set(clusters.map(({ key }) => key))
    for (const [key, { marker }] of mounted) {
      // Updates do not affect a pin while it is dragged.
      if (keys.has(key) || key === dragged) continue
      marker.remove()
      mounted.delete(key)
    }
    for (const cluster of clusters) put(cluster)
  }

  function put(cluster: Cluster<LocatedRecord>): void {
    const known = mounted.get(cluster.key)
    if (known) {
      known.cluster = cluster
      if (cluster.key !== dragged) known.marker.setLngLat(fromWorld(cluster))
      paint(known)
      return
    }
    const element = document.createElement('button')
    element.type = 'button'
    // The keyboard navigates the list instead.
    element.tabIndex = -1
    const isPin = cluster.points.length === 1
    const draggable = isPin && events().canMove()
    const marker = map.pin(element, fromWorld(cluster), { draggable, anchor: isPin ? 'bottom' : 'center' })
    const pin: MountedPin = { marker, element, cluster }
    mounted.set(cluster.key, pin)
    paint(pin)
    element.addEventListener('click', (event) => {
      event.stopPropagation()
      press(pin)
    })
    if (!isPin) return
    const record = () => pin.cluster.points[0]
    element.addEventListener('pointerenter', () => events().onHover(record() ?? null))
    element.addEventListener('pointerleave', () => events().onHover(null))
    element.addEventListener('contextmenu', (event) => {
      event.preventDefault()
      event.stopPropagation()
      const here = record()
      if (here) events().onMenu(here, { x: event.clientX, y: event.clientY })
    })
    marker.on('dragstart', () => {
      dragged = cluster.key
      events().onHover(null)
    })
    marker.on('dragend', () => {
      dragged = null
      const here = record()
      if (here) events().onMove(here, marker.getLngLat())
    })
  }

  function paint({ element, cluster }: MountedPin): void {
    const [first] = cluster.points
    const { length } = cluster.points
    const people = events().people()
    const person =
      people.size === 0
        ? undefined
        : cluster.points.map(({ row }) => people.get(row.id)).find((one) => one !== undefined)
    if (length > 1 || !first) {
      // Added, not set, because the map's own classes are on the element.
      element.classList.add(styles.cluster ?? '')
      element.dataset.size = length >= 1000 ? 'huge' : length >= 100 ? 'large' : undefined
      element.textContent = formatNumber(length)
      element.setAttribute('aria-label', withPerson(m.common_records_count({ count: length }), person))
      element.dataset.testid = 'map-cluster'
      showPerson(element, person)
      return
    }
    const title = events().titleOf(first.row)
    element.classList.add(styles.pin ?? '')
    element.dataset.testid = 'map-pin'
    element.setAttribute('aria-label', withPerson(title, person))
    showPerson(element, person)
    element.dataset.active = first.row.id === activeId ? 'true' : 'false'
    element.style.setProperty('--pin-color', events().colorOf(first.row)?.color ?? null)
  }

  function press({ cluster: { points }, element }: MountedPin): void {
    const [first] = points
    if (points.length === 1 && first) {
      events().onOpen(first)
      return
    }
    const bounds = boundsOf(points.map(({ at }) => at))
    if (!bounds) return
    const span = Math.max(bounds.max.lng - bounds.min.lng, bounds.max.lat - bounds.min.lat)
    const isDeepest = map.gl.getZoom() >= map.gl.getMaxZoom() - 0.1
    if (span < SAME_DEGREES || isDeepest) events().onStack(points, element)
    else
      map.gl.fitBounds([bounds.min, bounds.max], { padding: 90, maxZoom: map.gl.getMaxZoom(), duration: 400 })
  }

  const stop = map.onView(draw)
  return {
    setRecords(next: readonly LocatedRecord[]): void {
      records = next
      draw()
    },
    /** The record whose card is shown. */
    setActive(id: RecordId | null): void {
      activeId = id
      for (const pin of mounted.values()) paint(pin)
    },
    /** Call after colours or titles have changed. */
    repaint: (): void => {
      for (const pin of mounted.values()) paint(pin)
    },
    remove(): void {
      stop()
      for (const { marker } of mounted.values()) marker.remove()
      mounted.clear()
    },
  }
}
