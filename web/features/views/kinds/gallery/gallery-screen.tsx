import { useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { optionsOf } from '../../../../../src/core/views/index.ts'
import type { ShortcutSection } from '../../../../actions/index.ts'
import { m } from '../../../../messages.gen.ts'
import { useRecordStore } from '../../../../records/use-record-store.ts'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { ErrorState } from '../../../../ui/states.tsx'
import { toast } from '../../../../ui/toast.ts'
import { ReadErrorBar } from '../../../records/bars/status-bars.tsx'
import { manualOrderRight } from '../../../records/context/grid-rights.ts'
import type { RecordsHandle } from '../../../records/context/table-context.ts'
import { untilRow } from '../../../records/context/until-row.ts'
import { useTicks } from '../../../records/context/use-ticks.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import { useSheetPaste } from '../../../records/paste/use-sheet-paste.ts'
import { GridEmpty } from '../../../records/screen/grid-empty.tsx'
import { rowOfRecord, useShowRecord } from '../../../records/screen/use-show-record.ts'
import { type KindScreenProps, useViewFrame, ViewFrame } from '../../../records/screen/view-frame.tsx'
import { BulkBar } from '../../../records/toolbar/bulk-bar.tsx'
import type { ToolbarControl } from '../../../records/toolbar/toolbar.tsx'
import { cardFields } from '../../cards/card-fields.ts'
import { countChecked } from '../../cards/chosen.ts'
import { useCardsContext, useQueryWith } from '../../cards/use-cards-context.ts'
import { useRowColor } from '../../coloring/use-row-color.ts'
import { CoverMenu } from '../../fields/cover-menu.tsx'
import { CardGrid } from './card-grid.tsx'
import styles from './gallery.module.css'

const CONTROLS: readonly ToolbarControl[] = ['fields', 'filter', 'sort', 'color', 'search']

/** A table's records as cards with covers. */
export function GalleryScreen(props: KindScreenProps) {
  const { schema, people, rowId } = props
  const { baseId, id: tableId } = schema.table
  const frame = useViewFrame(props)
  const { rights, state, search, setSearch, openId } = frame
  const { view } = state
  const { coverFieldId, coverFit } = optionsOf(view, 'gallery')
  const cover = schema.fields.find((field) => field.id === coverFieldId) ?? null
  const query = useQueryWith(frame.query, view.coloring, [coverFieldId])
  const colorOf = useRowColor(schema.fields, view.coloring, people)
  const store = useRecordStore(baseId, tableId, query)
  const rowCount = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  const { error } = useStore(store.status)
  const [checked, setChecked] = useTicks(store.source, query)
  const [bulkEdits, setBulkEdits] = useState(false)
  const cards = useRef<RecordsHandle>(null)
  const fields = useMemo(
    () => cardFields(schema.fields, view, [coverFieldId]),
    [schema.fields, view, coverFieldId],
  )

  const { context, getContext } = useCardsContext(props, frame, {
    store,
    cards: () => cards.current,
    editRecords(ids) {
      cards.current?.check(ids)
      setBulkEdits(true)
    },
    addRecord,
    shortcuts: GALLERY_SHORTCUTS,
  })

  /** Scrolls to the new record once it is loaded. */
  async function show(id: string | number): Promise<void> {
    const row = await rowOfRecord(store, id)
    if (row === null) return
    await untilRow(store.source, row)
    cards.current?.select(row)
    cards.current?.focus()
  }
  function addRecord(): void {
    openNewRecord(getContext, {
      onCreated: (id) =>
        void show(id).catch((error) => console.warn('the position of the record is unknown', error)),
    })
  }
  const isEmpty = rowCount === 0
  useSheetPaste(getContext, isEmpty && search === null && query.filter === null && rights.grid.addRecords)
  useShowRecord(store, openId, (row) => cards.current?.select(row))
  const moveRecords = manualOrderRight(rights.grid, state, query)

  return (
    <ViewFrame
      frame={frame}
      context={context}
      getContext={getContext}
      controls={CONTROLS}
      tools={
        <>
          <CoverMenu
            fields={schema.fields}
            cover={{ coverFieldId: cover?.id ?? null, coverFit }}
            onChange={(patch) => state.update({ options: { ...optionsOf(view, 'gallery'), ...patch } })}
          />
          {rowCount !== null && (
            <span className={styles.count} data-testid="record-count">
              {m.common_records_count({ count: rowCount })}
            </span>
          )}
        </>
      }
      onAddRecord={addRecord}
      onFocus={() => cards.current?.focus()}
    >
      <div className={styles.area}>
        {error !== null && rowCount === null ? (
          <ErrorState
            title={m.gallery_records_load_failed()}
            error={error}
            onRetry={() => void store.reload()}
          />
        ) : isEmpty ? (
          <div className={styles.empty}>
            <GridEmpty context={context} search={search} onSearch={setSearch} onAddRecord={addRecord} />
          </div>
        ) : (
          <CardGrid
            ref={cards}
            label={`${schema.table.title}, ${view.title}`}
            getContext={getContext}
            rowCount={rowCount}
            fields={fields}
            cover={cover}
            coverFit={coverFit}
            colorOf={colorOf}
            onAdd={rights.grid.addRecords ? addRecord : undefined}
            moveRecords={moveRecords}
            onMoveRefused={(text) => toast.error({ text })}
            checked={checked}
            onChecked={setChecked}
            onActive={(row) => {
              store.setActive(row?.id ?? null)
              if (row && rowId !== undefined && store.isSaved(row.id)) context.openRecord(row.id)
            }}
          />
        )}
        {error !== null && rowCount !== null && (
          <ReadErrorBar text={m.gallery_records_load_failed_sentence()} onRetry={() => void store.reload()} />
        )}
        {countChecked(checked, rowCount ?? 0) > 0 && (
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

/** Shortcuts of a gallery for the shortcut sheet; `use-gallery-focus.ts` handles them. */
const GALLERY_SHORTCUTS: ShortcutSection = {
  title: () => m.gallery_gallery(),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => m.gallery_move_hold_shift_extend_selection() },
    { keys: [`${shortcutLabel('mod')} + ↑ ↓ ← →`], label: () => m.gallery_move_record() },
    { keys: ['Home', 'End'], label: () => m.gallery_first_and_last_record() },
    { keys: ['PageUp', 'PageDown'], label: () => m.gallery_page_up_or_down() },
    { keys: ['Enter', 'Space'], label: () => m.common_open_record() },
    { keys: [shortcutLabel('mod+Space')], label: () => m.gallery_select_record() },
    { keys: [shortcutLabel('mod+a')], label: () => m.common_select_all() },
    { keys: ['Del'], label: () => m.common_delete_record() },
  ],
}
