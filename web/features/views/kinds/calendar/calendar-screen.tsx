import { CalendarRange } from 'lucide-react'
import { type SyntheticEvent, useMemo, useRef, useState } from 'react'
import { resolveZone } from '../../../../../src/core/dates.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { ShortcutSection } from '../../../../actions/index.ts'
import { m } from '../../../../messages.gen.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import { localSettings } from '../../../../session/local-settings.ts'
import { ControlGroup } from '../../../../ui/composite.tsx'
import { Popover } from '../../../../ui/overlays.ts'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { ErrorState } from '../../../../ui/states.tsx'
import { useIsNarrow } from '../../../layout/sidebar-state.ts'
import { deleteRecords } from '../../../records/commands/record-commands.ts'
import { can, type RecordsHandle } from '../../../records/context/table-context.ts'
import { type KindScreenProps, useViewFrame, ViewFrame } from '../../../records/screen/view-frame.tsx'
import type { ToolbarControl } from '../../../records/toolbar/toolbar.tsx'
import { openCardMenu } from '../../cards/card-menu.ts'
import { useCardsContext } from '../../cards/use-cards-context.ts'
import { ToolbarButton } from '../../controls/toolbar-button.tsx'
import { isComparable } from '../../filter/filter-edit.ts'
import { fieldsToChoose } from '../../state/arrange-fields.ts'
import styles from './calendar.module.css'
import type { CalendarContext } from './calendar-context.ts'
import { DatesMenu, NoDates } from './dates-menu.tsx'
import dayStyles from './day-list.module.css'
import { DayList, MonthDots } from './day-list.tsx'
import { CalendarDragging, useCalendarDrag } from './drag.ts'
import { useEventEdits } from './event-edits.ts'
import { fixedReason } from './event-look.ts'
import type { DatedRange } from './events.ts'
import { eventsOf } from './events.ts'
import { useCalendarActions, useCalendarKeys } from './keyboard.ts'
import { whenName } from './labels.ts'
import { MonthGrid } from './month-grid.tsx'
import { type DragSubject, dropPreview } from './moves.ts'
import { PeriodBar, PeriodNotice } from './period-bar.tsx'
import { todayHere, useDayOfOpenRecord, useFirstPeriod, useNow } from './position.ts'
import { SideList } from './side-list.tsx'
import { TimeGrid } from './time-grid.tsx'
import { useCalendar } from './use-calendar.ts'
import { YearGrid } from './year-grid.tsx'

const CONTROLS: readonly ToolbarControl[] = ['fields', 'filter', 'color']

/** Screen of a calendar view. */
export function CalendarScreen(props: KindScreenProps) {
  const { schema, people } = props
  const { baseId, id: tableId } = schema.table
  const frame = useViewFrame(props)
  const { state, openId } = frame
  const { view } = state
  const data = useCalendar(schema, frame, people)
  const { options, change, ranges, position, goTo, period, queries, records, events } = data
  const { listStore, look, titleOf } = data
  // A record opened from the list that is not in the period: the panel steps through the list.
  const includesOpen = (store: RecordStore | null) =>
    openId !== null && store?.source.indexOf(openId) !== undefined
  const store =
    listStore && includesOpen(listStore) && !includesOpen(records.store) ? listStore : records.store
  const root = useRef<HTMLDivElement>(null)
  const lastOpened = useRef<RecordId | null>(openId)
  const handle = useRef<RecordsHandle>(null)
  // Before the table's actions: the palette lists the actions registered last first.
  useCalendarActions(goTo)
  const { context, getContext } = useCardsContext(props, frame, {
    store,
    cards: () => handle.current,
    // A calendar has no multiple selection.
    editRecords: ([id]) => id !== undefined && frame.openRecord(id),
    openRecord: (id) => {
      if (id !== null) lastOpened.current = id
      frame.openRecord(id === null ? null : store.realId(id))
    },
    openSearch() {
      openList(true)
      requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-calendar-search]')?.focus())
    },
    addRecord,
    shortcuts: CALENDAR_SHORTCUTS,
  })
  const edits = useEventEdits({ getContext, ranges, write: data.write, titleOf })
  const { drag, ...dragging } = useCalendarDrag(records.count !== null)
  const preview = useMemo(() => drag && dropPreview(drag), [drag])
  const eventsWithPreview = useMemo(
    () => (preview ? [...events.filter(({ key }) => key !== preview.key), preview] : events),
    [events, preview],
  )

  const now = useNow()
  const isNarrow = useIsNarrow()
  const [activeKey, setActiveKey] = useState<string | null>(null)
  const [highlightedId, setHighlightedId] = useState<RecordId | null>(null)
  const [dayList, setDayList] = useState<{ day: string; anchor: Element } | null>(null)
  const [isListOpen, setListOpen] = useState(
    () => !isNarrow && localSettings.get('calendar.list') !== 'false',
  )
  const openList = (open: boolean) => {
    setListOpen(open)
    localSettings.set('calendar.list', String(open))
  }
  const shownDays = period.weeks.flat()
  const calendar: CalendarContext = {
    period,
    now,
    look,
    activeKey,
    openId,
    highlightedId,
    goTo,
    today: todayHere(),
    events: eventsWithPreview,
    tabStopDay: shownDays.includes(position.day) ? position.day : (shownDays[0] ?? position.day),
    draggedKey: preview?.key ?? null,
    newRecordRange: can(context, 'record.create')
      ? (ranges.find(({ from }) => from.isWritable) ?? null)
      : null,
    canMove: can(context, 'record.update'),
    fixedReason: ({ range }) => fixedReason(context, range),
    open: context.openRecord,
    openMenu: (event, id) => {
      event.preventDefault()
      event.stopPropagation()
      // Some browsers send `contextmenu` for a resting finger, which starts a drag here.
      if (drag) return
      const index = records.store.source.indexOf(id) ?? -1
      openCardMenu(
        { ...context, store: records.store },
        { id, index, anchor: { x: event.clientX, y: event.clientY } },
      )
    },
    add: (slot) => edits.add(slot),
    showDay: (day, anchor) => setDayList({ day, anchor }),
  }
  function addRecord(): void {
    edits.add({ day: position.scale === 'year' ? calendar.today : position.day, minute: null })
  }
  /** The pressed event, one of its edges, or a new record on an empty day; null if the press starts no drag. */
  function dragSubjectOf({ target, type }: SyntheticEvent): DragSubject | null {
    if (!(target instanceof Element)) return null
    const key = target.closest<HTMLElement>('[data-key]')?.dataset.key
    if (key !== undefined) {
      const event = events.find((one) => one.key === key)
      if (!event || fixedReason(context, event.range) !== null) return null
      const edge = target.closest<HTMLElement>('[data-edge]')?.dataset.edge
      return { kind: edge === 'start' || edge === 'end' ? edge : 'move', event }
    }
    // A finger scrolls over empty days.
    if (
      type === 'touchstart' ||
      !calendar.newRecordRange ||
      target.closest('button') ||
      !target.closest('[data-day]')
    )
      return null
    return { kind: 'create', range: calendar.newRecordRange }
  }
  handle.current = {
    focus: () => focusOn(root.current, lastOpened.current, calendar.tabStopDay),
    select: (index) => {
      const row = store.source.getRow(index)
      if (row) elementOf(root.current, row.id)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    },
    check: () => {},
    clearChecked: () => {},
  }
  const onKeyDown = useCalendarKeys({
    root,
    period,
    hideWeekends: options.hideWeekends,
    onGo: ({ day, key }) => {
      goTo({ day })
      setActiveKey(key)
    },
    onAdd: (day) => edits.add({ day, minute: null }),
    onMove: (key, by, which) =>
      edits.moveBy(
        events.find((event) => event.key === key),
        by,
        which,
      ),
    onDelete: (key) => {
      const event = events.find((one) => one.key === key)
      if (event && can(context, 'record.delete')) void deleteRecords(context, [event.row.id])
    },
  })
  useDayOfOpenRecord(tableId, openId, ranges, (day) => goTo({ day }))
  const isSeeking = useFirstPeriod({
    tableId,
    viewId: view.id,
    openId,
    ranges,
    query: queries.list,
    records,
    goToDay: (day) => goTo({ day }),
  })

  return (
    <ViewFrame
      frame={frame}
      context={context}
      getContext={getContext}
      controls={CONTROLS}
      onAddRecord={addRecord}
      onFocus={() => handle.current?.focus()}
      tools={
        <ToolbarButton
          icon={CalendarRange}
          label={m.calendar_dates()}
          tip={ranges
            .map(({ from, to }) =>
              [from, to]
                .map((one) => one?.field.title)
                .filter(Boolean)
                .join(' – '),
            )
            .join(' · ')}
          testId="calendar-dates"
        >
          {() => (
            <DatesMenu
              fields={schema.fields}
              options={options}
              onChange={change}
              isColored={view.coloring !== null}
            />
          )}
        </ToolbarButton>
      }
    >
      {ranges.length === 0 ? (
        <div className={styles.calendar}>
          <NoDates
            fields={schema.fields}
            onChoose={(fromFieldId) => change({ ranges: [{ fromFieldId, toFieldId: null }] })}
            onAddField={can(context, 'field.create') ? edits.addDateField : undefined}
          />
        </div>
      ) : (
        <>
          <ControlGroup
            ref={root}
            className={styles.calendar}
            data-dragging={drag?.subject.kind}
            data-testid="calendar"
            onPointerEnter={dragging.preload}
            onMouseDown={(event) => dragging.press(event, dragSubjectOf(event))}
            onTouchStart={(event) => dragging.press(event, dragSubjectOf(event))}
            onKeyDown={onKeyDown}
            onFocus={({ target }) =>
              setActiveKey(target.closest<HTMLElement>('[data-key]')?.dataset.key ?? null)
            }
          >
            <PeriodBar
              period={period}
              today={calendar.today}
              isReading={records.isReading}
              onGo={goTo}
              isListOpen={isListOpen}
              onListOpen={openList}
            />
            {records.error !== null && records.count === null ? (
              <ErrorState
                title={m.calendar_records_load_failed()}
                error={records.error}
                onRetry={() => void records.store.reload()}
              />
            ) : (
              <Scale calendar={calendar} ranges={ranges} isNarrow={isNarrow} />
            )}
            <PeriodNotice records={records} isEmpty={events.length === 0 && !isSeeking} state={state} />
            <span className="visually-hidden" aria-live="polite" data-testid="calendar-said">
              {edits.announcement}
            </span>
          </ControlGroup>
          {isListOpen && (
            <SideList
              baseId={baseId}
              tableId={tableId}
              query={queries.list}
              openId={openId}
              onHighlight={(recordId) => {
                dragging.preload()
                setHighlightedId(recordId)
              }}
              onStore={data.setListStore}
              periodFilter={queries.inPeriod}
              undatedFilter={queries.undated}
              sortableFields={fieldsToChoose(schema.fields, view).filter(isComparable)}
              sorts={view.sorts}
              onSorts={(sorts) => state.update({ sorts })}
              describe={(row) => {
                const [event = null] = eventsOf([row], ranges)
                const when = event ? whenName(event) : m.calendar_no_date()
                return { title: titleOf(row), when, color: event && look(event).color }
              }}
              onOpen={(row) => {
                const [event] = eventsOf([row], ranges)
                if (event) goTo({ day: event.firstDay })
                context.openRecord(row.id)
                if (isNarrow) setListOpen(false)
              }}
              onPress={
                calendar.newRecordRange || can(context, 'record.update')
                  ? (event, row) => {
                      const range = edits.rangeFor(row)
                      dragging.press(event, range && { kind: 'schedule', row, range })
                    }
                  : undefined
              }
              onClose={() => openList(false)}
            />
          )}
          {dragging.isNeeded && (
            <CalendarDragging
              store={dragging.store}
              root={root}
              onDrop={edits.drop}
              overlay={drag?.subject.kind === 'schedule' && titleOf(drag.subject.row)}
            />
          )}
          {dayList && (
            <Popover
              anchor={dayList.anchor}
              onClose={() => setDayList(null)}
              label={m.calendar_records_on_this_day()}
              className={dayStyles.popover}
            >
              <DayList day={dayList.day} calendar={calendar} onOpen={() => setDayList(null)} />
            </Popover>
          )}
        </>
      )}
    </ViewFrame>
  )
}

/** Keys of a calendar for the shortcut sheet; `keyboard.ts` handles them. */
const CALENDAR_SHORTCUTS: ShortcutSection = {
  title: () => m.calendar_calendar(),
  lines: [
    { keys: ['D', 'W', 'M', 'Y'], label: () => m.calendar_day_week_month_year() },
    { keys: ['T'], label: () => m.calendar_today() },
    { keys: ['↑', '↓', '←', '→'], label: () => m.calendar_move_between_days_and_records() },
    { keys: ['Home', 'End'], label: () => m.calendar_start_end_week() },
    { keys: ['PageUp', 'PageDown'], label: () => m.calendar_earlier_and_later() },
    { keys: ['Enter'], label: () => m.calendar_open_record_add_one_day() },
    {
      keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`],
      label: () => m.calendar_move_record_days_weeks_15(),
    },
    { keys: [`${shortcutLabel('mod+shift')} + ↑ ↓ ← →`], label: () => m.calendar_change_its_end() },
    { keys: ['Del'], label: () => m.common_delete_record() },
  ],
}

/** The first event element of a record; null if it has none. */
const elementOf = (root: HTMLElement | null, id: RecordId): HTMLElement | null =>
  [...(root?.querySelectorAll<HTMLElement>('[data-record]') ?? [])].find(
    (one) => one.dataset.record === String(id),
  ) ?? null

/** Focuses a record's event, else a day. */
function focusOn(root: HTMLElement | null, id: RecordId | null, day: string): void {
  const event = id === null ? null : elementOf(root, id)
  const target = event ?? root?.querySelector<HTMLElement>(`[data-day="${day}"]`)
  target?.focus({ preventScroll: true })
}

/** The calendar in its current scale. The hours follow the zone and format of the first range with times. */
function Scale(props: { calendar: CalendarContext; ranges: readonly DatedRange[]; isNarrow: boolean }) {
  const { calendar, ranges, isNarrow } = props
  const { scale } = calendar.period
  if (scale === 'year') return <YearGrid calendar={calendar} />
  if (scale === 'month')
    return isNarrow ? <MonthDots calendar={calendar} /> : <MonthGrid calendar={calendar} />
  const timed = ranges.find(({ from }) => from.hasTime)?.from
  const options = timed?.field.result?.options ?? timed?.field.options
  return (
    <TimeGrid
      key={scale}
      calendar={calendar}
      is12h={options?.time12h === true}
      zone={timed?.zone ?? resolveZone('local')}
    />
  )
}
