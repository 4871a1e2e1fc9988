import { EyeOff } from 'lucide-react'
import { type MouseEvent, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { RecordId } from '../../../../../src/core/model.ts'
import { coloringFields, type KanbanOptions } from '../../../../../src/core/views/index.ts'
import type { ShortcutSection } from '../../../../actions/index.ts'
import { shownText } from '../../../../cells/index.ts'
import { usePeople } from '../../../../cells/people-context.ts'
import { isOffline } from '../../../../errors.ts'
import { m } from '../../../../messages.gen.ts'
import { type StackBy, type StackKey, stackKey, stackValue } from '../../../../records/layouts/stack-by.ts'
import { type StacksLayout, summaryId } from '../../../../records/layouts/stacks-layout.ts'
import { orderFieldOf, orderOf, selectionOf } from '../../../../records/record-order.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import { timeZone } from '../../../../time-zone.ts'
import { api, isMissing } from '../../../../trpc.ts'
import { Button } from '../../../../ui/button.tsx'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { EmptyState, ErrorState } from '../../../../ui/states.tsx'
import { ReadErrorBar } from '../../../records/bars/status-bars.tsx'
import { manualOrderRight } from '../../../records/context/grid-rights.ts'
import { can } from '../../../records/context/table-context.ts'
import { useTicks } from '../../../records/context/use-ticks.ts'
import { GridEmpty } from '../../../records/screen/grid-empty.tsx'
import { type KindScreenProps, ViewFrame, type ViewFrameState } from '../../../records/screen/view-frame.tsx'
import { BulkBar } from '../../../records/toolbar/bulk-bar.tsx'
import type { ToolbarControl } from '../../../records/toolbar/toolbar.tsx'
import { cardFields } from '../../cards/card-fields.ts'
import { openCardMenu } from '../../cards/card-menu.ts'
import { NO_ROWS, toggled } from '../../cards/chosen.ts'
import { useCardsContext } from '../../cards/use-cards-context.ts'
import { useRowColor } from '../../coloring/use-row-color.ts'
import type { MoveContext } from './card-moves.ts'
import { useNewCard } from './composer.tsx'
import styles from './kanban.module.css'
import { Kanban, useStackWindow } from './kanban.tsx'
import { useKanbanDrag } from './kanban-drag.ts'
import { useKanbanFocus, useKanbanKeys } from './kanban-keyboard.ts'
import { KanbanTools } from './kanban-tools.tsx'
import { cardMenuItems, openStackMenu } from './menus.ts'
import { addStack, type StackCommandContext } from './stack-commands.tsx'
import { useRecordNames, useStackTitle } from './stack-head.tsx'
import { moveStack, useStacks, withAllStacks, withStack } from './stacks.ts'
import { summaryOfView, useKanbanContextValue, useKanbanStore } from './use-kanban.ts'

const CONTROLS: readonly ToolbarControl[] = ['fields', 'filter', 'sort', 'color', 'search']

interface KanbanViewProps extends KindScreenProps {
  frame: ViewFrameState
  by: StackBy
  options: KanbanOptions
  onOptions: (patch: Partial<KanbanOptions>) => void
}

/** A kanban with its toolbar and the open record. */
export function KanbanView(props: KanbanViewProps) {
  const { schema, people, frame, by, options, onOptions } = props
  const { rights, state, search, setSearch, openId } = frame
  const { view } = state
  const root = useRef<HTMLDivElement>(null)
  const cover = schema.fields.find((field) => field.id === options.coverFieldId) ?? null
  const query = useMemo(() => {
    const order = orderFieldOf(schema.fields)
    const more = [
      by.field.id,
      by.keyField.id,
      order?.id,
      cover?.id,
      ...(view.coloring ? coloringFields(view.coloring) : []),
    ]
    const known = more.filter((id) => id !== undefined && schema.fields.some((field) => field.id === id))
    return { ...frame.query, fieldIds: [...new Set([...frame.query.fieldIds, ...known])] as string[] }
  }, [frame.query, schema.fields, by.field.id, by.keyField.id, cover?.id, view.coloring])
  const summary = useMemo(() => summaryOfView(view, schema.fields), [view, schema.fields])
  const { layout, store, totals } = useKanbanStore(schema.table.baseId, by, query, summary)
  const { stacks, shown } = useStacks({ layout, store, by, options, people, totals })
  const names = useRecordNames(
    by,
    stacks.map(({ key }) => key),
  )
  const titleOf = useStackTitle(layout, store, names)
  const rowCount = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  const { error } = useStore(store.status)
  const [checked, setChecked] = useTicks(store.source, query)
  const [bulkEdits, setBulkEdits] = useState(false)
  const [announcement] = useState(() => createStore(() => ''))
  const byId = usePeople()
  const colorOf = useRowColor(schema.fields, view.coloring, people)
  const fields = useMemo(
    () => cardFields(schema.fields, view, [options.coverFieldId, by.field.id, by.keyField.id]),
    [schema.fields, view, options.coverFieldId, by.field.id, by.keyField.id],
  )
  const stackWindow = useStackWindow(root, shown)
  const checkedIds = () => (checked.kind === 'some' ? [...checked.ids] : [])
  const choose = (ids: readonly RecordId[]) => setChecked({ kind: 'some', ids: new Set(ids) })
  const mayEdit = rights.grid.editRecords

  const { context, getContext } = useCardsContext(props, frame, {
    store,
    cards: () => ({
      focus: focus.restore,
      select(index) {
        const row = store.source.getRow(index)
        const key = row && layout.keyOf(row.id)
        if (row && key !== undefined) focus.goTo(key, layout.indexIn(row.id) ?? 0)
      },
      async show(id) {
        const found = await positionOfCard(by, store, id)
        if (found) focus.reveal(found.key, found.index)
      },
      check: choose,
      clearChecked: () => setChecked(NO_ROWS),
    }),
    editRecords(ids) {
      choose(ids)
      setBulkEdits(true)
    },
    openRecord(id) {
      // A record that is not saved yet has no URL.
      if (id === null || store.isSaved(id)) frame.openRecord(id === null ? null : store.realId(id))
    },
    addRecord,
    shortcuts: KANBAN_SHORTCUTS,
  })
  const order = manualOrderRight(rights.grid, state, query)
  const move: MoveContext = { context, layout, by, order, titleOf }
  const command: StackCommandContext = { context, by, changeOptions: onOptions }

  const focus = useKanbanFocus({
    root,
    layout,
    store,
    revealStack: stackWindow.reveal,
    keys: useMemo(() => shown.map(({ key }) => key), [shown]),
  })
  const drag = useKanbanDrag({
    move,
    root,
    mayEdit,
    checkedIds,
    onDropped: focus.follow,
    onMoveStack(key, index) {
      const at = shown.findIndex((stack) => stack.key === key)
      const isSamePlace = index === at || index === at + 1
      if (!isSamePlace) onOptions({ stacks: moveStack(stacks, key, shown[index]?.key) })
    },
  })
  const onKeyDown = useKanbanKeys({
    move,
    focus,
    shown,
    mayEdit,
    checkedIds,
    onChoose: choose,
    announce: (text) => announcement.setState(text),
    onToggle: (id) => setChecked((now) => toggled(now, id)),
    nameOf: (id) => {
      const value = fields.title ? store.row(id)?.values(fields.title.field.id) : null
      return (fields.title && shownText(fields.title.field, value ?? null, byId)) || m.common_untitled()
    },
  })
  const newCard = useNewCard({ get: getContext, move, onCreated: (id) => focus.follow(id) })
  useShowCard({ by, layout, store }, openId, focus.show)
  const kanban = useKanbanContextValue({
    layout,
    store,
    drag,
    focus,
    fields,
    cover,
    coverFit: options.coverFit,
    colorOf,
    mayEdit,
    checked,
    openId,
    by,
    titleOf,
    newCard,
    context,
    schema,
    // Hides the old value while the new summary loads.
    summary: totals?.summaryId === summaryId(summary) ? summary : null,
    onStackMenu(key, anchor) {
      const stack = stacks.find((one) => one.key === key)
      if (!stack) return
      const onAddRecord = () => newCard.add(key, 'top')
      openStackMenu({ command, stacks, shown, stack, title: titleOf(key), anchor, onAddRecord })
    },
    onExpand: (key) => onOptions({ stacks: withStack(stacks, key, { isCollapsed: false }) }),
  })

  /** Adds a card to the focused stack, else to the first that allows it. */
  function addRecord(): void {
    const at = focus.position.get()?.key
    const open = shown.filter((stack) => !stack.isCollapsed && kanban.mayAdd(stack.key))
    const target = open.find((stack) => stack.key === at) ?? open[0]
    if (!target) return
    stackWindow.reveal(target.key)
    newCard.add(target.key, 'top')
  }

  function onCard(id: RecordId, event: MouseEvent) {
    focus.follow(id)
    if (event.ctrlKey || event.metaKey) setChecked((now) => toggled(now, id))
    else if (event.shiftKey)
      choose([...new Set([...checkedIds(), ...layout.between(lastClicked.current, id)])])
    else context.openRecord(id)
    lastClicked.current = id
  }
  const lastClicked = useRef<RecordId | null>(null)

  const isFiltered = search !== null || query.filter !== null
  return (
    <ViewFrame
      frame={frame}
      context={context}
      getContext={getContext}
      controls={CONTROLS}
      tools={
        <KanbanTools
          context={context}
          options={options}
          stacks={stacks}
          titleOf={titleOf}
          summary={summary}
          onChange={onOptions}
        />
      }
      onAddRecord={addRecord}
      onFocus={focus.restore}
    >
      <div className={styles.area}>
        {error !== null && rowCount === null ? (
          <ErrorState
            title={m.kanban_records_load_failed()}
            error={error}
            onRetry={() => layout.paging().retry()}
          />
        ) : rowCount === 0 && isFiltered ? (
          <GridEmpty context={context} search={search} onSearch={setSearch} onAddRecord={addRecord} />
        ) : shown.length === 0 && totals !== null ? (
          <EmptyState icon={EyeOff} title={m.kanban_all_stacks_are_hidden()}>
            <Button
              variant="primary"
              onClick={() =>
                onOptions({ hideEmpty: false, stacks: withAllStacks(stacks, { isHidden: false }) })
              }
            >
              {m.kanban_show_all_stacks()}
            </Button>
          </EmptyState>
        ) : (
          <Kanban
            root={root}
            kanban={kanban}
            shown={shown}
            announcement={announcement}
            onKeyDown={onKeyDown}
            onCard={onCard}
            label={`${schema.table.title}, ${view.title}`}
            window={stackWindow}
            hasMore={totals?.hasMore ?? false}
            onCardMenu={(id, anchor) =>
              openCardMenu(context, {
                id,
                anchor,
                checked,
                index: store.source.indexOf(id) ?? -1,
                items: cardMenuItems({ move, id, anchor, stacks, mayEdit, onMoved: focus.follow }),
              })
            }
            onAddStack={
              by.kind === 'option' && can(context, 'field.update') ? () => addStack(command) : undefined
            }
          />
        )}
        {error !== null && rowCount !== null && (
          <ReadErrorBar
            text={m.kanban_records_load_failed_sentence()}
            onRetry={() => layout.paging().retry()}
          />
        )}
        {checked.kind === 'some' && checked.ids.size > 0 && (
          <BulkBar
            context={context}
            checked={checked}
            rowCount={rowCount ?? 0}
            isEditing={bulkEdits}
            onEditing={setBulkEdits}
          />
        )}
      </div>
    </ViewFrame>
  )
}

/** Shortcuts of a kanban for the shortcut sheet; `kanban-keyboard.ts` handles them. */
const KANBAN_SHORTCUTS: ShortcutSection = {
  title: () => m.kanban_kanban(),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => m.kanban_move_between_cards_and_stacks() },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => m.kanban_move_card() },
    { keys: ['Home', 'End'], label: () => m.kanban_first_last_card_stack() },
    { keys: ['Enter', 'Space'], label: () => m.common_open_record() },
    { keys: [shortcutLabel('mod+Space')], label: () => m.kanban_select_record() },
    { keys: [shortcutLabel('mod+a')], label: () => m.kanban_select_all_cards_stack() },
    { keys: ['Del'], label: () => m.common_delete_record() },
    { keys: ['Shift+F10'], label: () => m.kanban_card_or_stack_menu() },
  ],
}

/** Scrolls once to the record in the URL when the kanban opens. */
function useShowCard(
  { by, layout, store }: { by: StackBy; layout: StacksLayout; store: RecordStore },
  recordId: RecordId | null,
  reveal: (id: RecordId, key: StackKey, index: number) => void,
): void {
  const first = useRef({ recordId, by, reveal })
  useEffect(() => {
    const { recordId, by, reveal } = first.current
    if (recordId === null) return
    let isGone = false
    async function show(id: RecordId) {
      const position = await positionOfCard(by, store, id)
      if (!position) return
      await untilKnown(store, () => isGone || layout.loaded.stack(position.key).count !== null)
      if (!isGone) reveal(id, position.key, position.index)
    }
    show(recordId).catch((error) => {
      // The record panel opens anyway and reports a deleted record.
      if (!isOffline(error) && !isMissing(error)) console.warn('the position of the record is unknown', error)
    })
    return () => {
      isGone = true
    }
  }, [layout, store])
}

/** The stack of a record and its index there, loaded or not; null if the kanban does not show the record. */
async function positionOfCard(
  by: StackBy,
  store: RecordStore,
  recordId: RecordId,
): Promise<{ key: StackKey; index: number } | null> {
  const { tableId } = by.field
  const { values } = await api.records.get.query({ tableId, recordId, timeZone })
  const key = stackKey(by, values[by.keyField.id] ?? null)
  const group = [{ fieldId: by.keyField.id, value: stackValue(by, key) }]
  const stored = store.query()
  const query = { ...selectionOf(tableId, stored), ...orderOf(stored), group, timeZone, limit: 1, offset: 0 }
  const { offset } = await api.records.position.query({ query, recordId })
  return offset === null ? null : { key, index: offset }
}

function untilKnown({ source }: RecordStore, isKnown: () => boolean): Promise<void> {
  if (isKnown()) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = source.subscribe(() => {
      if (!isKnown()) return
      stop()
      resolve()
    })
  })
}
