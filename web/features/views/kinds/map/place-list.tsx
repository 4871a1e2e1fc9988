import { useVirtualizer } from '@tanstack/react-virtual'
import { MapPin, MapPinPlus, TriangleAlert } from 'lucide-react'
import { useDeferredValue, useMemo, useRef, useState } from 'react'
import type { Field, RecordId } from '../../../../../src/core/model.ts'
import { shownText } from '../../../../cells/index.ts'
import { usePeople } from '../../../../cells/people-context.ts'
import type { GridRow } from '../../../../grid/contract.ts'
import { formatNumber } from '../../../../i18n.ts'
import { placeIn } from '../../../../map/place-value.ts'
import { m } from '../../../../messages.gen.ts'
import type { MapState } from '../../../../records/layouts/map-layout.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { SearchInput } from '../../../../ui/search-input.tsx'
import { Tabs } from '../../../../ui/tabs.tsx'
import styles from './place-list.module.css'

export interface PlaceListProps {
  state: MapState
  title: Field | undefined
  geoFieldId: string
  activeId: RecordId | null
  /** Shows a record with a location on the map; opens one without. */
  onShow: (row: GridRow) => void
  /** Lets the next click on the map set the location; absent if the user cannot. */
  onPlace?: (row: GridRow) => void
  placingId: RecordId | null
  onRetry: () => void
  /** Loads more records without a location. */
  onMore: () => void
}

/** Row height, as in place-list.module.css; larger for touch. */
const LINE_PX = window.matchMedia('(pointer: coarse)').matches ? 44 : 40

const withCount = (name: string, count: number) => (
  <>
    {name} <span className={styles.number}>{formatNumber(count)}</span>
  </>
)

/** The list of records with and without a location. It replaces the pins for keyboard users. */
export function PlaceList(props: PlaceListProps) {
  const { state, title, geoFieldId } = props
  const people = usePeople()
  const [tab, setTab] = useState<'placed' | 'unplaced'>('placed')
  const [text, setText] = useState('')
  const needle = useDeferredValue(text.trim().toLowerCase())
  const all = useMemo(
    () => (tab === 'placed' ? state.placed.map(({ row }) => row) : state.unplaced),
    [tab, state.placed, state.unplaced],
  )
  const nameOf = (row: GridRow) => (title ? shownText(title, row.values(title.id), people) : '')
  // biome-ignore lint/correctness/useExhaustiveDependencies: names follow from the rows
  const found = useMemo(
    () => (needle === '' ? all : all.filter((row) => nameOf(row).toLowerCase().includes(needle))),
    [all, needle],
  )
  const unplacedTotal = state.unplacedTotal ?? state.unplaced.length
  const hasMore = tab === 'unplaced' && state.unplaced.length < unplacedTotal
  const box = useRef<HTMLDivElement>(null)
  const lines = useVirtualizer({
    count: found.length,
    estimateSize: () => LINE_PX,
    overscan: 8,
    getScrollElement: () => box.current,
    getItemKey: (index) => found[index]?.id ?? index,
  })

  return (
    <section className={styles.list} aria-label={m.common_records()} data-testid="place-list">
      <Tabs
        label={m.common_records()}
        tabs={[
          { id: 'placed', label: withCount(m.map_on_the_map(), state.placed.length) },
          { id: 'unplaced', label: withCount(m.map_no_location(), unplacedTotal) },
        ]}
        selected={tab}
        onSelect={(one) => {
          setTab(one)
          box.current?.scrollTo({ top: 0 })
        }}
        className={styles.tabs}
        panelClassName={styles.panel}
      >
        <SearchInput label={m.map_find_a_record()} value={text} onSearch={setText} className={styles.find} />
        {state.error !== null && (
          <p className={styles.failed} role="alert">
            {m.map_records_load_failed()}{' '}
            <Button size="small" onClick={props.onRetry}>
              {m.common_try_again()}
            </Button>
          </p>
        )}
        <div ref={box} className={styles.lines} aria-busy={state.isLoading || undefined}>
          <ul style={{ blockSize: lines.getTotalSize() }}>
            {lines.getVirtualItems().map(({ index, start, key }) => {
              const row = found[index]
              return (
                row && (
                  <li key={key} style={{ insetBlockStart: start }}>
                    <Line {...props} row={row} name={nameOf(row)} value={row.values(geoFieldId)} />
                  </li>
                )
              )
            })}
          </ul>
          {found.length === 0 && !state.isLoading && state.error === null && (
            <p className={styles.nothing}>
              {needle !== ''
                ? m.common_no_matching_records()
                : tab === 'placed'
                  ? m.map_no_records_location_yet()
                  : m.map_all_records_have_a_location()}
            </p>
          )}
        </div>
        {hasMore && !state.isLoading && (
          <p className={styles.nothing}>
            {m.map_shown_total_records_listed({
              shown: state.unplaced.length,
              total: unplacedTotal,
            })}{' '}
            <Button size="small" onClick={props.onMore}>
              {m.map_show_more()}
            </Button>
          </p>
        )}
        {state.isCut && (
          <p className={styles.nothing}>
            {m.map_showing_first_records_filter_see({
              count: state.placed.length,
            })}
          </p>
        )}
      </Tabs>
    </section>
  )
}

interface LineProps extends PlaceListProps {
  row: GridRow
  name: string
  value: ReturnType<GridRow['values']>
}

function Line({ row, name, value, activeId, placingId, onShow, onPlace }: LineProps) {
  const hasPlace = placeIn(value) !== null
  const isWrong = !hasPlace && value !== null && value !== ''
  return (
    <span className={styles.line} data-active={row.id === activeId || row.id === placingId || undefined}>
      <button type="button" className={styles.lineName} onClick={() => onShow(row)}>
        {isWrong ? (
          <TriangleAlert size={14} className={styles.wrong} aria-hidden />
        ) : (
          <MapPin size={14} aria-hidden />
        )}
        <span dir="auto" data-tip={name} data-tip-clipped>
          {name || m.common_untitled()}
        </span>
        {isWrong && (
          <small dir="auto" title={String(value)}>
            {m.map_invalid_location_value({ value: String(value) })}
          </small>
        )}
      </button>
      {!hasPlace && onPlace && (
        <IconButton
          icon={MapPinPlus}
          size="small"
          iconSize={15}
          label={m.map_place_on_the_map()}
          aria-pressed={row.id === placingId}
          onClick={() => onPlace(row)}
        />
      )}
    </span>
  )
}
