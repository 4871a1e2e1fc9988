import { ArrowDownUp, X } from 'lucide-react'
import {
  type KeyboardEvent,
  type SyntheticEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { useStore } from 'zustand'
import { allOf, type Filter } from '../../../../../src/core/filters/index.ts'
import type { Field, RecordId, Sort } from '../../../../../src/core/model.ts'
import type { GridRow } from '../../../../grid/contract.ts'
import { m } from '../../../../messages.gen.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import type { StoreQuery } from '../../../../records/types.ts'
import { useRecordStore } from '../../../../records/use-record-store.ts'
import { localSettings } from '../../../../session/local-settings.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { ErrorState, Skeleton } from '../../../../ui/states.tsx'
import toolbar from '../../controls/toolbar.module.css'
import { ToolbarButton } from '../../controls/toolbar-button.tsx'
import { SortMenu } from '../../sort/sort-menu.tsx'
import type { ChipStyle } from './event-chip.tsx'
import styles from './side.module.css'

/** Which records the list shows. */
const CHOICES = ['all', 'period', 'undated'] as const
type Choice = (typeof CHOICES)[number]

const choiceName = (choice: Choice): string =>
  ({ all: m.calendar_all_records(), period: m.calendar_in_this_period(), undated: m.calendar_no_date() })[
    choice
  ]

const isChoice = (text: string | null): text is Choice => CHOICES.some((choice) => choice === text)

/** Debounce of the search. */
const PAUSE_MS = 250

/** Height of a line in pixels, as in side.module.css. */
const LINE_PX = 54

interface SideListProps {
  baseId: string
  tableId: string
  /** The view's own filter and sorts, and the fields that are read. */
  query: StoreQuery
  periodFilter: Filter | null
  undatedFilter: Filter | null
  /** Sortable fields. */
  sortable: readonly Field[]
  sorts: readonly Sort[]
  onSorts: (sorts: Sort[]) => void
  openId: RecordId | null
  draw: (row: GridRow) => { title: string; when: string; color: string | null }
  onOpen: (row: GridRow) => void
  onLit: (id: RecordId | null) => void
  /** Absent where records cannot be put on the calendar. */
  onPress?: (event: SyntheticEvent, row: GridRow) => void
  onStore: (store: RecordStore | null) => void
  onClose: () => void
}

/** Side list of records: all, those of the period, or those without a date. */
export function SideList(props: SideListProps) {
  const { query, periodFilter, undatedFilter, onStore } = props
  const [choice, setChoice] = useState<Choice>(() => {
    const saved = localSettings.get('calendar.listed')
    return isChoice(saved) ? saved : 'all'
  })
  const [text, setText] = useState('')
  const [sought, setSought] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSought(text.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const listed = useMemo((): StoreQuery => {
    const own = choice === 'all' ? null : choice === 'period' ? periodFilter : undatedFilter
    const search = sought === '' ? null : { text: sought, fieldId: null }
    return { ...query, filter: allOf([query.filter, own]), search }
  }, [query, choice, periodFilter, undatedFilter, sought])
  const store = useRecordStore(props.baseId, props.tableId, listed)
  useEffect(() => {
    onStore(store)
    return () => onStore(null)
  }, [store, onStore])
  const count = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  const { error } = useStore(store.status)

  return (
    <aside
      className={styles.side}
      aria-label={m.common_records()}
      data-testid="calendar-list"
      data-yields={props.openId !== null || undefined}
    >
      <div className={styles.head}>
        <select
          className={`${toolbar.select} ${styles.choice}`}
          aria-label={m.calendar_which_records()}
          value={choice}
          onChange={({ target }) => {
            if (!isChoice(target.value)) return
            setChoice(target.value)
            localSettings.set('calendar.listed', target.value)
          }}
        >
          {CHOICES.map((one) => (
            <option key={one} value={one}>
              {choiceName(one)}
            </option>
          ))}
        </select>
        <ToolbarButton
          icon={ArrowDownUp}
          label={m.calendar_sort()}
          count={props.sorts.length}
          testId="calendar-sort"
        >
          {() => <SortMenu fields={props.sortable} sorts={props.sorts} onChange={props.onSorts} />}
        </ToolbarButton>
        <IconButton icon={X} size="small" label={m.calendar_hide_the_list()} onClick={props.onClose} />
      </div>
      <div className={styles.search}>
        <input
          type="search"
          className={toolbar.input}
          dir="auto"
          placeholder={m.common_search()}
          aria-label={m.calendar_search_this_list()}
          data-calendar-search
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || text === '') return
            event.stopPropagation()
            setText('')
          }}
        />
        <output className={styles.count} data-testid="calendar-list-count">
          {count !== null && m.common_records_count({ count })}
        </output>
      </div>
      {error !== null && count === null ? (
        <ErrorState
          title={m.calendar_records_load_failed()}
          error={error}
          onRetry={() => void store.reload()}
        />
      ) : (
        <Lines {...props} store={store} count={count} emptyText={emptyText(choice, sought)} />
      )}
    </aside>
  )
}

function emptyText(choice: Choice, sought: string): string {
  if (sought !== '') return m.common_no_matching_records()
  if (choice === 'undated') return m.calendar_all_records_have_a_date()
  return choice === 'period' ? m.calendar_no_records_in_this_period() : m.calendar_no_records()
}

interface LinesProps extends SideListProps {
  store: RecordStore
  count: number | null
  emptyText: string
}

/** A virtualized list with a fixed line height. */
function Lines({ store, count, emptyText, ...props }: LinesProps) {
  const box = useRef<HTMLUListElement>(null)
  const [range, setRange] = useState({ first: 0, last: 12 })
  const [active, setActive] = useState(0)
  const wantsFocus = useRef(false)
  useLayoutEffect(() => {
    const list = box.current
    if (!list) return
    const measure = () => {
      const first = Math.max(0, Math.floor(list.scrollTop / LINE_PX) - 2)
      const last = Math.ceil((list.scrollTop + list.clientHeight) / LINE_PX) + 2
      setRange((now) => (now.first === first && now.last === last ? now : { first, last }))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(list)
    list.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      list.removeEventListener('scroll', measure)
    }
  }, [])
  const last = Math.min(range.last, (count ?? range.last + 1) - 1)
  useEffect(() => store.source.requestRange(range.first, last), [store, range.first, last])
  // The line was not mounted before the keyboard scrolled to it.
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    const line = box.current?.querySelector<HTMLElement>(`[data-index="${active}"]`)
    if (!line) return
    wantsFocus.current = false
    line.focus({ preventScroll: true })
  })

  function onKeyDown(event: KeyboardEvent) {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 8,
      PageUp: -8,
      Home: -1e9,
      End: 1e9,
    }
    const by = steps[event.key]
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey || count === null) return
    event.preventDefault()
    const next = Math.min(count - 1, Math.max(0, active + by))
    wantsFocus.current = true
    setActive(next)
    const list = box.current
    if (!list) return
    const [top, bottom] = [next * LINE_PX, (next + 1) * LINE_PX]
    if (top < list.scrollTop) list.scrollTop = top
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight
  }

  const stop = Math.min(active, Math.max(0, (count ?? 1) - 1))
  const indexes = Array.from({ length: Math.max(0, last - range.first + 1) }, (_, at) => range.first + at)
  return (
    <ul
      ref={box}
      className={styles.lines}
      aria-busy={count === null}
      onKeyDown={onKeyDown}
      onPointerLeave={() => props.onLit(null)}
    >
      {count === 0 && <li className={styles.empty}>{emptyText}</li>}
      <li aria-hidden className={styles.spacer} style={{ blockSize: (count ?? 0) * LINE_PX }} />
      {count !== 0 &&
        indexes.map((index) => (
          <SideRow
            key={index}
            index={index}
            store={store}
            isStop={index === stop}
            openId={props.openId}
            draw={props.draw}
            onOpen={(row) => {
              setActive(index)
              props.onOpen(row)
            }}
            onLit={props.onLit}
            onPress={props.onPress}
          />
        ))}
    </ul>
  )
}

interface SideRowProps {
  index: number
  store: RecordStore
  /** The line that takes the focus by Tab. */
  isStop: boolean
  openId: RecordId | null
  draw: (row: GridRow) => { title: string; when: string; color: string | null }
  onOpen: (row: GridRow) => void
  onLit: (id: RecordId | null) => void
  onPress?: (event: SyntheticEvent, row: GridRow) => void
}

/** A record of the side list. */
function SideRow({ index, store, isStop, openId, draw, onOpen, onLit, onPress }: SideRowProps) {
  const row = useSyncExternalStore(
    (onChange) => store.source.subscribeRow(index, onChange),
    () => store.source.getRow(index),
  )
  const place: ChipStyle = { '--index': index }
  if (!row) {
    return (
      <li className={styles.line} style={place}>
        <span className={styles.waiting}>
          <Skeleton width="70%" />
          <Skeleton width="40%" height={11} />
        </span>
      </li>
    )
  }
  const { title, when, color } = draw(row)
  const mark: ChipStyle = color === null ? {} : { '--event': color }
  return (
    <li className={styles.line} style={place} data-state={row.state}>
      <button
        type="button"
        tabIndex={isStop ? 0 : -1}
        data-index={index}
        data-open={openId === row.id || undefined}
        data-testid="calendar-list-row"
        data-tip={onPress ? m.calendar_drag_to_a_day() : undefined}
        onMouseDown={(press) => onPress?.(press, row)}
        onTouchStart={(press) => onPress?.(press, row)}
        onPointerEnter={() => onLit(row.id)}
        onFocus={() => onLit(row.id)}
        onBlur={() => onLit(null)}
        onClick={() => onOpen(row)}
      >
        <i className={styles.mark} style={mark} data-none={color === null || undefined} aria-hidden />
        <span className="visually-hidden">{[title, when].join(', ')}</span>
        <span className={styles.text} aria-hidden>
          <span className={styles.title} dir="auto">
            {title}
          </span>
          <small>{when}</small>
        </span>
      </button>
    </li>
  )
}
