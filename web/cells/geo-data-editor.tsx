import { LocateFixed, MapPinned } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, useState } from 'react'
import { join, parsePoint, pointParts } from '../../src/core/fields/geo-data.ts'
import { valueAt } from '../map/place-value.ts'
import { m } from '../messages.gen.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { ControlGroup } from '../ui/composite.tsx'
import { openDialog } from '../ui/open-dialog.tsx'
import type { Draft, EditorProps } from './cell.ts'
import editor from './editor.module.css'
import styles from './geo-data.module.css'
import { useFocusAtEnd } from './text-input.tsx'

/** Inputs for latitude and longitude; a pasted coordinate pair fills both. */
export function GeoEditor(props: EditorProps<Record<string, never>>): ReactNode {
  const { value, typed, variant, ref, describedBy, invalid, label } = props
  const stored = pointParts(String(value ?? ''))
  const [lat, setLat] = useState(typed ?? stored.lat)
  const [long, setLong] = useState(typed === null ? stored.long : '')
  const [problem, setProblem] = useState<string | null>(null)
  const [isAsking, setAsking] = useState(false)
  const first = useRef<HTMLInputElement>(null)
  const second = useRef<HTMLInputElement>(null)
  useImperativeHandle(ref, () => ({
    read: () => readParts(first.current?.value ?? lat, second.current?.value ?? long, value),
    focus: () => first.current?.focus(),
  }))
  useFocusAtEnd(first, props.autoFocus)

  /** A pasted pair of coordinates fills both inputs. A typed one is read at the end, as its beginning may be a pair too. */
  function set(text: string, isPasted: boolean, setOne: (text: string) => void) {
    const whole = isPasted ? readPair(text) : null
    setProblem(null)
    if (whole === null) return setOne(text)
    const parts = pointParts(whole)
    setLat(parts.lat)
    setLong(parts.long)
  }

  /** Commits a location picked on the map: at once in records and forms, on leave in a grid cell. */
  function take(place: string) {
    const parts = pointParts(place)
    setProblem(null)
    setLat(parts.lat)
    setLong(parts.long)
    if (variant === 'record') props.change(place)
    // The map closes in this tick; wait, so that nothing behind it takes the focus first.
    requestAnimationFrame(() => first.current?.focus())
  }

  function fillInPlace() {
    setAsking(true)
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        setAsking(false)
        take(valueAt({ lat: coords.latitude, lng: coords.longitude }))
      },
      ({ code }) => {
        setAsking(false)
        setProblem(
          code === GeolocationPositionError.PERMISSION_DENIED
            ? m.cells_location_access_blocked_browser()
            : m.cells_location_locate_failed(),
        )
      },
      { timeout: 10_000 },
    )
  }

  function pickOnMap() {
    const shown = join(first.current?.value, second.current?.value)
    openPlacePicker(label, shown, take)
  }

  const input = (which: 'lat' | 'long') => {
    const isLat = which === 'lat'
    const name = isLat ? m.cells_latitude() : m.cells_longitude()
    return (
      <label className={styles.part}>
        <span>{name}</span>
        <input
          ref={isLat ? first : second}
          id={isLat ? props.id : undefined}
          className={styles.input}
          inputMode="decimal"
          dir="ltr"
          autoComplete="off"
          value={isLat ? lat : long}
          placeholder={isLat ? '48.8584' : '2.2945'}
          aria-label={`${label}: ${name}`}
          aria-invalid={invalid || undefined}
          aria-describedby={describedBy}
          onChange={({ target, nativeEvent }) =>
            set(target.value, isInsertion(nativeEvent), isLat ? setLat : setLong)
          }
        />
      </label>
    )
  }

  return (
    <ControlGroup
      className={variant === 'grid' ? styles.box : `${editor.recordPicker} ${styles.record}`}
      data-invalid={invalid || undefined}
      onKeyDown={keepKeys}
    >
      {input('lat')}
      {input('long')}
      {'geolocation' in navigator && (
        <button
          type="button"
          className={styles.place}
          // Not disabled, which would lose the focus.
          aria-disabled={isAsking || undefined}
          // The input keeps the focus: leaving it would close the cell.
          onMouseDown={(event) => event.preventDefault()}
          onClick={isAsking ? undefined : fillInPlace}
        >
          <LocateFixed size={14} aria-hidden />
          {isAsking ? m.cells_locating() : m.cells_use_my_location()}
        </button>
      )}
      <button
        type="button"
        className={styles.place}
        data-testid="pick-on-map"
        onMouseDown={(event) => event.preventDefault()}
        onClick={pickOnMap}
      >
        <MapPinned size={14} aria-hidden />
        {m.cells_pick_on_map()}
      </button>
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </ControlGroup>
  )
}

/** Tab moves through the controls before it leaves the cell; Enter presses a button. */
function keepKeys(event: KeyboardEvent<HTMLElement>): void {
  const controls = [...event.currentTarget.querySelectorAll<HTMLElement>('input, button')]
  const at = event.target instanceof HTMLElement ? controls.indexOf(event.target) : -1
  if (event.key === 'Enter' && controls[at] instanceof HTMLButtonElement) event.stopPropagation()
  const next = event.key === 'Tab' ? controls[at + (event.shiftKey ? -1 : 1)] : undefined
  if (!next) return
  event.preventDefault()
  event.stopPropagation()
  next.focus()
}

/** True if text was pasted or dropped. */
const isInsertion = (event: Event): boolean =>
  event instanceof InputEvent &&
  (event.inputType === 'insertFromPaste' || event.inputType === 'insertFromDrop')

/** Parses a pair in one input. `48,85` there is one coordinate with a decimal comma. */
const readPair = (text: string): string | null => (join('0', text) === null ? parsePoint(text) : null)

function readParts(lat: string, long: string, value: EditorProps['value']): Draft {
  const now = { lat: lat.trim(), long: long.trim() }
  const stored = pointParts(String(value ?? ''))
  if (now.lat === stored.lat && now.long === stored.long) return { ok: true, value }
  if (now.lat === '' && now.long === '') return { ok: true, value: null }
  const point = join(now.lat, now.long) ?? (now.long === '' ? readPair(now.lat) : null)
  if (point !== null) return { ok: true, value: point }
  return { ok: false, message: m.cells_enter_latitude_90_90_longitude() }
}

const PlacePicker = lazyPart(() => import('../map/place-picker.tsx'), 'PlacePicker')

/**
 * Opens a dialog for picking a location on a map.
 *
 * @param value the initial location; null for none
 */
function openPlacePicker(title: string, value: string | null, onPick: (value: string) => void): void {
  openDialog((close) => <PlacePicker title={title} value={value} onPick={onPick} onClose={close} />)
}
