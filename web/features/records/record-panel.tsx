import {
  ChevronDown,
  ChevronRight,
  ChevronUp,
  EllipsisVertical,
  Files,
  Link,
  RotateCw,
  Trash2,
  X,
} from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { shownText } from '../../cells/cell-text.ts'
import { CELLS } from '../../cells/index.ts'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { isVisitorPage } from '../../session/visitor.ts'
import { isMissing, trpc } from '../../trpc.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { openMenu } from '../../ui/menu.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { fileTarget } from '../attachments/file-target.ts'
import { fieldsInOrder } from '../views/arrange-fields.ts'
import { linkTarget } from './link-target.ts'
import { copyRecordLink, createOption, deleteRecords, duplicateRecords } from './record-commands.ts'
import { RecordField } from './record-field.tsx'
import { RecordHistory } from './record-history.tsx'
import styles from './record-panel.module.css'
import { can, type GetContext, shownRecords, type TableContext } from './table-context.ts'

export interface RecordPanelProps {
  context: TableContext
  getContext: GetContext
  /** As it stands in the address. */
  recordId: RecordId
  onClose: () => void
}

/** One record beside the grid: its fields in the order of the view, and what happened to it. */
export function RecordPanel({ context, getContext, recordId, onClose }: RecordPanelProps) {
  const { schema, state, store } = context
  const tableId = schema.table.id
  const [tab, setTab] = useState<'fields' | 'history'>('fields')
  const panel = useRef<HTMLElement>(null)
  const read = trpc.records.get.useQuery({ tableId, recordId }, { staleTime: 0 })
  const row = useRow(context, recordId)
  useReadAgain(context, () => void read.refetch())
  const ordered = useMemo(() => fieldsInOrder(schema.fields, state.view), [schema.fields, state.view])
  const display = schema.fields.find((field) => field.isDisplay)
  // The grid's row holds what was typed a moment ago; the record that was read holds the hidden fields too.
  const valueIn = (field: Field): CellValue =>
    row && store.query().fieldIds.includes(field.id)
      ? row.values(field.id)
      : (read.data?.values[field.id] ?? null)
  const title = display ? shownText(display, valueIn(display)) : ''

  useEffect(() => {
    panel.current?.focus({ preventScroll: true })
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
    } else if (event.key === 'Escape' && !event.defaultPrevented) {
      event.preventDefault()
      onClose()
    }
  }

  return (
    <aside
      ref={panel}
      className={styles.panel}
      aria-label={t('Record {title}', { title: title || String(recordId) })}
      tabIndex={-1}
      data-testid="record-panel"
      onKeyDown={onKeyDown}
    >
      <header className={styles.head}>
        <IconButton
          icon={ChevronUp}
          size="small"
          label={t('Previous record')}
          shortcut={shortcutLabel('alt+↑')}
          disabled={!index}
          onClick={() => step(-1)}
        />
        <IconButton
          icon={ChevronDown}
          size="small"
          label={t('Next record')}
          shortcut={shortcutLabel('alt+↓')}
          disabled={index === undefined || index + 1 >= (store.source.rowCount ?? 0)}
          onClick={() => step(1)}
        />
        <h2 className={styles.title} dir="auto" data-tip={title} data-tip-clipped>
          {title || t('Untitled')}
        </h2>
        <IconButton
          icon={Link}
          size="small"
          iconSize={15}
          label={t('Copy record link')}
          onClick={() => void copyRecordLink(context, recordId)}
        />
        <PanelMenu
          context={context}
          recordId={recordId}
          onReload={() => void read.refetch()}
          onClose={onClose}
        />
        <IconButton icon={X} size="small" label={t('Close record')} shortcut={t('Esc')} onClick={onClose} />
      </header>
      <div className={styles.tabs} role="tablist" aria-label={t('Record')}>
        <Tab label={t('Fields')} isOpen={tab === 'fields'} onOpen={() => setTab('fields')} />
        {!isVisitorPage && (
          <Tab label={t('History')} isOpen={tab === 'history'} onOpen={() => setTab('history')} />
        )}
      </div>
      {isMissing(read.error) ? (
        <p className={styles.gone}>{t('This record does not exist any more.')}</p>
      ) : read.error && !read.data && !row ? (
        <ErrorState
          title={t('The record could not be read')}
          error={read.error}
          onRetry={() => void read.refetch()}
        />
      ) : tab === 'history' ? (
        <RecordHistory key={recordId} context={context} recordId={recordId} />
      ) : read.data || row ? (
        <Fields
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
    </aside>
  )
}

/** The record's row as the grid shows it; undefined where the grid has it not. */
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

/** Fields that the grid does not show are read anew when records change. */
function useReadAgain({ store }: TableContext, refetch: () => void): void {
  const latest = useRef(refetch)
  latest.current = refetch
  useEffect(() => store.onData(() => latest.current()), [store])
}

function Tab({ label, isOpen, onOpen }: { label: string; isOpen: boolean; onOpen: () => void }) {
  return (
    <button type="button" role="tab" aria-selected={isOpen} className={styles.tab} onClick={onOpen}>
      {label}
    </button>
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
      label={t('More')}
      aria-haspopup="menu"
      onClick={(event) =>
        openMenu(
          event.currentTarget,
          [
            { kind: 'id', label: t('Record'), value: String(recordId) },
            { kind: 'action', label: t('Reload'), icon: RotateCw, run: onReload },
            ...(can(context, 'record.create')
              ? [
                  {
                    ...({ kind: 'action', label: t('Duplicate'), icon: Files } as const),
                    run: () => run(duplicateRecords(context, [recordId])),
                  },
                ]
              : []),
            ...(can(context, 'record.delete')
              ? [
                  {
                    ...({ kind: 'action', label: t('Delete record'), icon: Trash2, tone: 'danger' } as const),
                    run: () => {
                      onClose()
                      run(deleteRecords(context, [recordId]))
                    },
                  },
                ]
              : []),
          ],
          t('Record'),
        )
      }
    />
  )
}

function Fields(props: {
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
    // What a connected database computes stays as it is.
    const canEdit = mayEdit && field.readOnlyReason === null
    return (
      <RecordField
        // The editor of another record must not keep this one's text.
        key={`${recordId} ${field.id}`}
        field={field}
        value={valueIn(field)}
        canEdit={canEdit}
        error={row?.failedCells?.get(field.id) ?? null}
        files={canEdit && CELLS[field.type].takesFiles ? fileTarget(store, field, recordId) : undefined}
        links={linkTarget(getContext, field, recordId) ?? undefined}
        createOption={mayAddOptions ? (title) => createOption(getContext(), field.id, title) : undefined}
        onCommit={(value) => void store.writeRows([{ id: recordId, values: { [field.id]: value } }])}
      />
    )
  }
  const shown = ordered.filter(({ field, column }) => column.show || field.isDisplay)
  const hidden = ordered.filter((one) => !shown.includes(one))
  return (
    <div className={styles.body}>
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
          {t('Hidden fields ({n})', { n: hidden.length })}
        </Button>
      )}
      {showsHidden && (
        <div id={hiddenId} className={styles.hidden}>
          {hidden.map(draw)}
        </div>
      )}
    </div>
  )
}
