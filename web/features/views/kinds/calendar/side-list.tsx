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
import { SearchInput } from '../../../../ui/search-input.tsx'
import { ErrorState, Skeleton } from '../../../../ui/states.tsx'
import toolbar from '../../controls/toolbar.module.css'
import { ToolbarButton } from '../../controls/toolbar-button.tsx'
import { SortMenu } from '../../sort/sort-menu.tsx'
import type { ChipStyle } from './event-chip.tsx'
import styles from './side.module.css'

/** Filters of the list: all records, those of the period, those without a date. */
const SCOPES = ['all', 'period', 'undated'] as const
type Scope = (typeof SCOPES)[number]

const scopeName = (scope: Scope): string =>
  ({ all: m.calendar_all_records(), period: m.calendar_in_this_period(), undated: m.calendar_no_date() })[
    scope
  ]

const isScope = (text: string | null): text is Scope => SCOPES.some((scope) => scope === text)

/** The search runs after this time without a key press. */
const SEARCH_DELAY_MS = 250

/** Height of a row, as in side.module.css. */
const ROW_PX = 54

interface SideListProps {
  baseId: string
  tableId: string
  /** The view's fields, filter and sorts. */
  query: StoreQuery
  periodFilter: Filter | null
  undatedFilter: Filter | null
  sortableFields: readonly Field[]
  sorts: readonly Sort[]
  onSorts: (sorts: Sort[]) => void
  openId: RecordId | null
  describe: (row: GridRow) => { title: string; when: string; color: string | null }
  onOpen: (row: GridRow) => void
  /** The pointer or the focus entered a record; null: left it. */
  onHighlight: (id: RecordId | null) => void
  /** Starts a drag of a record onto the calendar; absent if the user may not change dates. */
  onPress?: (event: SyntheticEvent, row: GridRow) => void
  onStore: (store: RecordStore | null) => void
  onClose: () => void
}

/** The records beside the calendar: all, those of the period, or those without a date. */
export function SideList(props: SideListProps) {
  const { query, periodFilter, undatedFilter, onStore } = props
  const [scope, setScope] = useState<Scope>(() => {
    const saved = localSettings.get('calendar.listed')
    return isScope(saved) ? saved : 'all'
  })
  const [text, setText] = useState('')
  const [searched, setSearched] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), SEARCH_DELAY_MS)
    return () => clearTimeout(timer)
  }, [text])
  const listQuery = useMemo((): StoreQuery => {
    const scopeFilter = scope === 'all' ? null : scope === 'period' ? periodFilter : undatedFilter
    const search = searched === '' ? null : { text: searched, fieldId: null }
    return { ...query, filter: allOf([query.filter, scopeFilter]), search }
  }, [query, scope, periodFilter, undatedFilter, searched])
  const store = useRecordStore(props.baseId, props.tableId, listQuery, { showsUnsaved: false })
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
          value={scope}
          onChange={({ target }) => {
            if (!isScope(target.value)) return
            setScope(target.value)
            localSettings.set('calendar.listed', target.value)
          }}
        >
          {SCOPES.map((one) => (
            <option key={one} value={one}>
              {scopeName(one)}
            </option>
          ))}
        </select>
        <ToolbarButton
          icon={ArrowDownUp}
          label={m.calendar_sort()}
          count={props.sorts.length}
          testId="calendar-sort"
        >
          {() => <SortMenu fields={props.sortableFields} sorts={props.sorts} onChange={props.onSorts} />}
        </ToolbarButton>
        <IconButton icon={X} size="small" label={m.calendar_hide_the_list()} onClick={props.onClose} />
      </div>
      <div className={styles.search}>
        <SearchInput
          label={m.calendar_search_this_list()}
          placeholder={m.common_search()}
          data-calendar-search
          value={text}
          onSearch={setText}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || text === '') return
            event.stopPropagation()
            setText('')
          }}
          className={styles.searchBox}
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
        <RecordRows {...props} store={store} count={count} emptyText={emptyText(scope, searched)} />
      )}
    </aside>
  )
}

function emptyText(scope: Scope, searched: string): string {
  if (searched !== '') return m.common_no_matching_records()
  if (scope === 'undated') return m.calendar_all_records_have_a_date()
  return scope === 'period' ? m.calendar_no_records_in_this_period() : m.calendar_no_records()
}

interface RecordRowsProps extends SideListProps {
  store: RecordStore
  count: number | null
  emptyText: string
}

/** Rows of equal height; only visible ones are rendered. */
function RecordRows({ store, count, emptyText, ...props }: RecordRowsProps) {
  const box = useRef<HTMLUListElement>(null)
  const [range, setRange] = useState({ first: 0, last: 12 })
  const [active, setActive] = useState(0)
  const focusPending = useRef(false)
  useLayoutEffect(() => {
    const list = box.current
    if (!list) return
    const measure = () => {
      const first = Math.max(0, Math.floor(list.scrollTop / ROW_PX) - 2)
      const last = Math.ceil((list.scrollTop + list.clientHeight) / ROW_PX) + 2
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
  // A row that the keyboard scrolled to takes the focus once it is rendered.
  useLayoutEffect(() => {
    if (!focusPending.current) return
    const line = box.current?.querySelector<HTMLElement>(`[data-index="${active}"]`)
    if (!line) return
    focusPending.current = false
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
    focusPending.current = true
    setActive(next)
    const list = box.current
    if (!list) return
    const [top, bottom] = [next * ROW_PX, (next + 1) * ROW_PX]
    if (top < list.scrollTop) list.scrollTop = top
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight
  }

  const tabStop = Math.min(active, Math.max(0, (count ?? 1) - 1))
  const indexes = Array.from(
    { length: Math.max(0, last - range.first + 1) },
    (_, offset) => range.first + offset,
  )
  return (
    <ul
      ref={box}
      className={styles.lines}
      aria-busy={count === null}
      onKeyDown={onKeyDown}
      onPointerLeave={() => props.onHighlight(null)}
    >
      {count === 0 && <li className={styles.empty}>{emptyText}</li>}
      <li aria-hidden className={styles.spacer} style={{ blockSize: (count ?? 0) * ROW_PX }} />
      {count !== 0 &&
        indexes.map((index) => (
          <SideRow
            key={index}
            index={index}
            store={store}
            isTabStop={index === tabStop}
            openId={props.openId}
            describe={props.describe}
            onOpen={(row) => {
              setActive(index)
              props.onOpen(row)
            }}
            onHighlight={props.onHighlight}
            onPress={props.onPress}
          />
        ))}
    </ul>
  )
}

interface SideRowProps {
  index: number
  store: RecordStore
  /** Tab focuses this row. */
  isTabStop: boolean
  openId: RecordId | null
  describe: (row: GridRow) => { title: string; when: string; color: string | null }
  onOpen: (row: GridRow) => void
  /** The pointer or the focus entered a record; null: left it. */
  onHighlight: (id: RecordId | null) => void
  onPress?: (event: SyntheticEvent, row: GridRow) => void
}

/** A record of the list beside the calendar. */
function SideRow({ index, store, isTabStop, openId, describe, onOpen, onHighlight, onPress }: SideRowProps) {
  const row = useSyncExternalStore(
    (onChange) => store.source.subscribeRow(index, onChange),
    () => store.source.getRow(index),
  )
  const position: ChipStyle = { '--index': index }
  if (!row) {
    return (
      <li className={styles.line} style={position}>
        <span className={styles.waiting}>
          <Skeleton width="70%" />
          <Skeleton width="40%" height={11} />
        </span>
      </li>
    )
  }
  const { title, when, color } = describe(row)
  const mark: ChipStyle = color === null ? {} : { '--event': color }
  return (
    <li className={styles.line} style={position} data-state={row.state}>
      <button
        type="button"
        tabIndex={isTabStop ? 0 : -1}
        data-index={index}
        data-open={openId === row.id || undefined}
        data-testid="calendar-list-row"
        data-tip={onPress ? m.calendar_drag_to_a_day() : undefined}
        onMouseDown={(press) => onPress?.(press, row)}
        onTouchStart={(press) => onPress?.(press, row)}
        onPointerEnter={() => onHighlight(row.id)}
        onFocus={() => onHighlight(row.id)}
        onBlur={() => onHighlight(null)}
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
