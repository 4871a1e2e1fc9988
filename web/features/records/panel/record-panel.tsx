import {
  ChevronDown,
  ChevronRight,
  ChevronUp,
  EllipsisVertical,
  Files,
  Link,
  Maximize2,
  PanelRight,
  RotateCw,
  Trash2,
  X,
} from 'lucide-react'
import {
  type KeyboardEvent,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { flushSync } from 'react-dom'
import { useStore } from 'zustand'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import { isFocusLeaving } from '../../../cells/focus-within.ts'
import { CELLS, shownText } from '../../../cells/index.ts'
import { PressedRecordProvider } from '../../../cells/pressed-record.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { localSettings } from '../../../session/local-settings.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { timeZone } from '../../../time-zone.ts'
import { isMissing, trpc } from '../../../trpc.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { ControlGroup } from '../../../ui/composite.tsx'
import { useOnChange } from '../../../ui/effects.ts'
import { openMenu } from '../../../ui/menu.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { shortcutLabel } from '../../../ui/shortcuts.ts'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { toast } from '../../../ui/toast.ts'
import { useIsNarrow } from '../../layout/sidebar-state.ts'
import { ownPosition } from '../../presence/presence-state.ts'
import { fieldsInOrder } from '../../views/state/arrange-fields.ts'
import { copyToTableItems } from '../commands/copy-to-table.tsx'
import { fileTarget } from '../commands/file-target.ts'
import { linkTarget } from '../commands/link-target.ts'
import { copyRecordLink, createOption, deleteRecords, duplicateRecords } from '../commands/record-commands.ts'
import { triggerItems, whenHooksAreKnown } from '../commands/trigger-webhooks.ts'
import { RecordComments } from '../comments/record-comments.tsx'
import { askedComment } from '../context/asked-comment.ts'
import { can, type GetContext, shownRecords, type TableContext } from '../context/table-context.ts'
import { RecordField } from './record-field.tsx'
import { RecordHistory } from './record-history.tsx'
import styles from './record-panel.module.css'
import { useRefetchOnData } from './refetch-on-data.ts'

const WatchButton = lazyPart(() => import('../../watches/watch-button.tsx'), 'WatchButton')

export interface RecordPanelProps {
  context: TableContext
  getContext: GetContext
  /** From the URL. */
  recordId: RecordId
  onClose: () => void
}

/** An open record in a side panel or dialog: its fields in view order, its comments and its history. */
export function RecordPanel({ context, getContext, recordId, onClose }: RecordPanelProps) {
  const { schema, state, store } = context
  const tableId = schema.table.id
  const [tab, setTab] = useState<'fields' | 'comments' | 'history'>('fields')
  const asked = useStore(askedComment)
  const isAsked = asked?.tableId === tableId && String(asked.recordId) === String(recordId)
  useOnChange([isAsked, asked], () => {
    if (isAsked) setTab('comments')
  })
  useEffect(() => () => askedComment.setState(null, true), [])
  const panel = useRef<HTMLElement>(null)
  const read = trpc.records.get.useQuery({ tableId, recordId, timeZone }, { staleTime: 0 })
  const row = useRow(context, recordId)
  useRefetchOnData(context, () => read.refetch())
  const ordered = useMemo(() => fieldsInOrder(schema.fields, state.view), [schema.fields, state.view])
  const display = schema.fields.find((field) => field.isDisplay)
  // The grid's row has the latest edits; the loaded record also has the hidden fields.
  const valueIn = (field: Field): CellValue =>
    row && store.query().fieldIds.includes(field.id)
      ? row.values(field.id)
      : (read.data?.values[field.id] ?? null)
  const title = display ? shownText(display, valueIn(display)) : ''

  const place = useRecordPlace()
  useEffect(() => {
    ownPosition.setState({ record: { recordId, fieldId: null, isEditing: false } })
    return () => ownPosition.setState({ record: null })
  }, [recordId])

  // On mount, also when switching between side panel and dialog, which are different elements.
  const appear = useCallback((element: HTMLElement | null) => {
    panel.current = element
    element?.focus({ preventScroll: true })
  }, [])

  const index = store.source.indexOf(recordId)
  const step = (by: 1 | -1) => {
    const next = index === undefined ? undefined : store.source.getRow(index + by)
    if (!next || index === undefined) return
    context.openRecord(next.id)
    shownRecords(context)?.select(index + by)
    panel.current?.focus({ preventScroll: true })
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault()
      step(event.key === 'ArrowUp' ? -1 : 1)
    } else if (event.key === 'Escape' && !event.defaultPrevented && !place.isWindow) {
      // The dialog handles Escape itself.
      event.preventDefault()
      onClose()
    }
  }

  const name = m.records_record_title({ title: title || String(recordId) })
  const tools = (
    <>
      <IconButton
        icon={ChevronUp}
        size="small"
        label={m.records_previous_record()}
        shortcut={shortcutLabel('alt+↑')}
        disabled={!index}
        onClick={() => step(-1)}
      />
      <IconButton
        icon={ChevronDown}
        size="small"
        label={m.records_next_record()}
        shortcut={shortcutLabel('alt+↓')}
        disabled={index === undefined || index + 1 >= (store.source.rowCount ?? 0)}
        onClick={() => step(1)}
      />
      {!place.isWindow && (
        <h2 className={styles.title} dir="auto" data-tip={title} data-tip-clipped>
          {title || m.common_untitled()}
        </h2>
      )}
      <IconButton
        icon={Link}
        size="small"
        iconSize={15}
        label={m.records_copy_record_link()}
        onClick={() => void copyRecordLink(context, recordId)}
      />
      {!isVisitorPage && <WatchButton target={{ tableId, recordId }} />}
      {place.toggle && (
        <IconButton
          icon={place.isWindow ? PanelRight : Maximize2}
          size="small"
          iconSize={15}
          label={place.isWindow ? m.records_open_as_side_panel() : m.records_open_in_a_window()}
          onClick={place.toggle}
        />
      )}
      <PanelMenu
        context={context}
        recordId={recordId}
        onReload={() => void read.refetch()}
        onClose={onClose}
      />
    </>
  )
  const content = (
    <Tabs
      label={m.common_record()}
      tabs={[
        { id: 'fields', label: m.common_fields() },
        ...(isVisitorPage
          ? []
          : ([
              { id: 'comments', label: m.comments_comments() },
              { id: 'history', label: m.common_history() },
            ] as const)),
      ]}
      selected={tab}
      onSelect={setTab}
      className={styles.tabs}
      panelClassName={styles.content}
    >
      {isMissing(read.error) && tab !== 'history' ? (
        <p className={styles.gone}>{m.records_this_record_was_deleted()}</p>
      ) : read.error && !read.data && !row && tab !== 'history' ? (
        <QueryError title={m.records_record_load_failed()} query={read} />
      ) : tab === 'comments' ? (
        <RecordComments key={recordId} context={context} recordId={recordId} asked={isAsked ? asked : null} />
      ) : tab === 'history' ? (
        <RecordHistory key={recordId} context={context} recordId={recordId} />
      ) : read.data || row ? (
        <RecordFields
          key={recordId}
          context={context}
          getContext={getContext}
          recordId={recordId}
          ordered={ordered}
          valueIn={valueIn}
        />
      ) : (
        <div className={styles.body} aria-busy="true">
          {ordered.slice(0, 6).map(({ field }) => (
            <Skeleton key={field.id} height={44} />
          ))}
        </div>
      )}
    </Tabs>
  )

  if (place.isWindow) {
    return (
      <Dialog
        title={title || m.common_untitled()}
        size="large"
        followsAddress
        onClose={() => closeSaved(onClose)}
      >
        <section
          ref={appear}
          className={styles.window}
          aria-label={name}
          tabIndex={-1}
          data-autofocus
          data-testid="record-panel"
          onKeyDown={onKeyDown}
        >
          <div className={styles.windowTools}>{tools}</div>
          {content}
        </section>
      </Dialog>
    )
  }
  return (
    <aside
      ref={appear}
      className={styles.panel}
      aria-label={name}
      tabIndex={-1}
      data-testid="record-panel"
      onKeyDown={onKeyDown}
    >
      <header className={styles.head}>
        {tools}
        <IconButton
          icon={X}
          size="small"
          label={m.records_close_record()}
          shortcut={m.records_escape_key()}
          onClick={onClose}
        />
      </header>
      {content}
    </aside>
  )
}

/** Commits the open editor before closing, because a click outside arrives before its blur. */
function closeSaved(close: () => void): void {
  flushSync(() => document.activeElement instanceof HTMLElement && document.activeElement.blur())
  close()
}

/** The record's row in the store; undefined if it is not loaded. */
function useRow({ store }: TableContext, recordId: RecordId) {
  return useSyncExternalStore(
    (onChange) => {
      const stops = [store.source.subscribe(onChange), store.onRow(recordId, onChange)]
      return () => {
        for (const stop of stops) stop()
      }
    },
    () => store.row(recordId),
  )
}

function PanelMenu(props: {
  context: TableContext
  recordId: RecordId
  onReload: () => void
  onClose: () => void
}) {
  const { context, recordId, onReload, onClose } = props
  const run = (work: Promise<unknown>) => void work.catch((error) => toast.error({ text: messageOf(error) }))
  return (
    <IconButton
      icon={EllipsisVertical}
      size="small"
      label={m.common_more()}
      aria-haspopup="menu"
      onClick={(event) =>
        openMenu(
          event.currentTarget,
          whenHooksAreKnown(context, () => [
            { kind: 'id', label: m.common_record(), value: String(recordId) },
            { kind: 'action', label: m.records_reload(), icon: RotateCw, run: onReload },
            ...(can(context, 'record.create')
              ? [
                  {
                    kind: 'action' as const,
                    label: m.common_duplicate(),
                    icon: Files,
                    run: () => run(duplicateRecords(context, [recordId])),
                  },
                ]
              : []),
            ...copyToTableItems(context, [recordId]),
            ...triggerItems(context, [recordId]),
            ...(can(context, 'record.delete')
              ? [
                  {
                    kind: 'action' as const,
                    label: m.common_delete_record(),
                    icon: Trash2,
                    tone: 'danger' as const,
                    run: () => {
                      onClose()
                      run(deleteRecords(context, [recordId]))
                    },
                  },
                ]
              : []),
          ]),
          m.common_record(),
        )
      }
    />
  )
}

/** Placement of an open record, remembered in this browser. */
interface RecordPlace {
  /** True in a dialog, false in a side panel. */
  isWindow: boolean
  /** Switches between side panel and dialog. Null if the screen has room for only one of them. */
  toggle: (() => void) | null
}

const PLACE_SETTING = 'record.place'

/** Narrow screens always show the record full screen. */
function useRecordPlace(): RecordPlace {
  const isNarrow = useIsNarrow()
  const [isChosen, setChosen] = useState(() => localSettings.get(PLACE_SETTING) === 'window')
  if (isNarrow) return { isWindow: false, toggle: null }
  return {
    isWindow: isChosen,
    toggle() {
      localSettings.set(PLACE_SETTING, isChosen ? 'side' : 'window')
      setChosen(!isChosen)
    },
  }
}

/** The fields of a record; those hidden in the view are collapsed. */
function RecordFields(props: {
  context: TableContext
  getContext: GetContext
  recordId: RecordId
  ordered: ReturnType<typeof fieldsInOrder>
  valueIn: (field: Field) => CellValue
}) {
  const { context, getContext, recordId, ordered, valueIn } = props
  const [showsHidden, setShowsHidden] = useState(false)
  const hiddenId = useId()
  const { store } = context
  const row = store.row(recordId)
  const mayEdit = can(context, 'record.update')
  const mayAddOptions = can(context, 'field.update')
  const draw = ({ field }: (typeof ordered)[number]) => {
    // Columns computed by a connected database are read-only.
    const canEdit = mayEdit && field.readOnlyReason === null
    return (
      <RecordField
        // Keyed by record, so that editors do not keep another record's text, and by what decides about the editor: the
        // former one saves its text when it is removed.
        key={`${recordId} ${field.id} ${field.type} ${canEdit}`}
        recordId={recordId}
        field={field}
        value={valueIn(field)}
        canEdit={canEdit}
        error={row?.failedCells?.get(field.id) ?? null}
        files={canEdit && CELLS[field.type].takesFiles ? fileTarget(context, field, recordId) : undefined}
        links={linkTarget(getContext, field, recordId) ?? undefined}
        createOption={mayAddOptions ? (title) => createOption(getContext(), field.id, title) : undefined}
        onCommit={(mine, opened) => void store.writeEdit(recordId, { fieldId: field.id, opened, mine })}
      />
    )
  }
  const shown = ordered.filter(({ field, column }) => column.show || field.isDisplay)
  const hidden = ordered.filter((one) => !shown.includes(one))
  return (
    <PressedRecordProvider value={row?.state === 'new' ? null : recordId}>
      <ControlGroup
        className={styles.body}
        onFocus={({ target }) => {
          const fieldId = target.closest<HTMLElement>('[data-testid="record-field"]')?.dataset.field ?? null
          const isEditing = fieldId !== null && target.matches('input, textarea, [contenteditable]')
          ownPosition.setState({ record: { recordId, fieldId, isEditing } })
        }}
        onBlur={(event) => {
          if (isFocusLeaving(event))
            ownPosition.setState({ record: { recordId, fieldId: null, isEditing: false } })
        }}
      >
        {shown.map(draw)}
        {hidden.length > 0 && (
          <Button
            size="small"
            variant="ghost"
            icon={showsHidden ? ChevronDown : ChevronRight}
            aria-expanded={showsHidden}
            aria-controls={hiddenId}
            onClick={() => setShowsHidden(!showsHidden)}
          >
            {m.records_hidden_fields_count({ count: hidden.length })}
          </Button>
        )}
        {showsHidden && (
          <div id={hiddenId} className={styles.hidden}>
            {hidden.map(draw)}
          </div>
        )}
      </ControlGroup>
    </PressedRecordProvider>
  )
}
