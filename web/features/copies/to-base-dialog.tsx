import { useId, useState } from 'react'
import type { Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import {
  type CopiedField,
  type LostField,
  MAX_COPIED_TABLES,
  type TableCopyPreview,
} from '../../../src/core/table-copies.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField } from '../../ui/field.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import styles from './copies.module.css'
import { CopyDialog } from './copy-dialog.tsx'
import { movedTables } from './moved-tables.ts'

interface ToBaseDialogProps {
  table: Table
  /** Moves the table: the original goes to the trash. */
  isMove: boolean
  onClose: () => void
}

/**
 * Copies or moves a table to another base, on request with further tables and the links between them, after a preview of
 * what becomes of their fields.
 */
export function ToBaseDialog({ table, isMove, onClose }: ToBaseDialogProps) {
  const { id: tableId, title } = table
  const [further, setFurther] = useState<ReadonlySet<string>>(new Set())
  const furtherTableIds = [...further]
  const bases = trpc.bases.list.useQuery({})
  const preview = trpc.copies.previewToBase.useQuery(
    { tableId, furtherTableIds, isMove },
    { staleTime: 0, placeholderData: (previous) => previous },
  )
  const offered = bases.data?.filter(
    ({ id, role }) => roleCan(role, 'table.create') && !(isMove && id === table.baseId),
  )
  const [chosen, setChosen] = useState<string>()
  const [withData, setWithData] = useState(true)
  const [withViews, setWithViews] = useState(true)
  const [withComments, setWithComments] = useState(true)
  const [withHistory, setWithHistory] = useState(isMove)
  const [withHooks, setWithHooks] = useState(isMove)
  const { comments = 0, webhooks = 0, keepsIds = false } = preview.data ?? {}
  const other = offered?.find(({ id }) => id !== table.baseId)
  const baseId = chosen ?? other?.id ?? offered?.[0]?.id
  return (
    <CopyDialog
      title={title}
      heading={isMove ? m.copies_move_to_base_title({ title }) : m.copies_copy_to_base_title({ title })}
      submitLabel={isMove ? m.copies_move() : m.copies_copy()}
      waiting={isMove ? m.copies_moving_table() : m.copies_copying_table()}
      isReady={baseId !== undefined && preview.data !== undefined && !preview.isPlaceholderData}
      start={async () => {
        const target = baseId ?? ''
        const options = {
          tableId,
          furtherTableIds,
          baseId: target,
          withData,
          withViews,
          withComments: withData && withComments,
          withHistory: withData && withHistory,
          withHooks: withHooks && webhooks > 0,
          isMove,
        }
        const copy = await api.copies.tableToBase.mutate(options)
        // Whoever has one of them open goes along.
        if (isMove)
          for (const { id, newId } of copy.tables) movedTables.set(id, { baseId: target, tableId: newId })
        return {
          jobId: copy.jobId,
          async finish(result) {
            await Promise.all([
              cache.schema.invalidate(),
              cache.trash.invalidate(),
              cache.notifications.invalidate(),
            ])
            const { cellsLeftOut } = result as { cellsLeftOut: number }
            if (copy.tables.length > 1) return m.copies_tables_are_ready({ count: copy.tables.length })
            return cellsLeftOut > 0
              ? m.copies_title_is_ready_without({ title, count: cellsLeftOut })
              : m.copies_title_is_ready({ title })
          },
          fail() {
            for (const { id } of copy.tables) movedTables.delete(id)
          },
          open: () => goTo(paths.table(target, copy.tableId)),
        }
      }}
      onClose={onClose}
    >
      {bases.error && !bases.data ? (
        <QueryError title={m.copies_bases_load_failed()} query={bases} />
      ) : !offered ? (
        <Skeleton height={56} />
      ) : offered.length === 0 ? (
        <p className={styles.text}>{m.copies_no_base_to_copy_to()}</p>
      ) : (
        <SelectField
          label={m.copies_to_base()}
          data-autofocus
          value={baseId}
          onChange={(event) => setChosen(event.target.value)}
        >
          {offered.map(({ id, title: name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      {keepsIds && (
        <FurtherTables
          table={table}
          linked={preview.data?.linked ?? []}
          chosen={further}
          onChoose={setFurther}
        />
      )}
      {!isMove && <Checkbox label={m.common_records()} checked={withData} onChange={setWithData} />}
      <Checkbox label={m.copies_include_all_views()} checked={withViews} onChange={setWithViews} />
      {keepsIds && (
        <Checkbox
          label={m.copies_include_history()}
          checked={withData && withHistory}
          disabled={!withData}
          onChange={setWithHistory}
        />
      )}
      {comments > 0 && (
        <Checkbox
          label={m.copies_include_comments({ count: comments })}
          checked={withData && withComments}
          disabled={!withData}
          onChange={setWithComments}
        />
      )}
      {webhooks > 0 && (
        <Checkbox
          label={m.copies_include_webhooks({ count: webhooks })}
          help={isMove ? undefined : m.copies_webhooks_off()}
          checked={withHooks}
          onChange={setWithHooks}
        />
      )}
      {preview.error && !preview.data ? (
        <QueryError title={m.copies_preview_load_failed()} query={preview} />
      ) : preview.data ? (
        <FieldNotes
          preview={preview.data}
          isOfOne={further.size === 0}
          withHistory={keepsIds && withData && withHistory}
        />
      ) : (
        <Skeleton height={40} />
      )}
      {isMove && <p className={styles.text}>{m.copies_move_hint()}</p>}
    </CopyDialog>
  )
}

/** The other tables of the base, those that the chosen ones are linked to first. */
function FurtherTables({
  table,
  linked,
  chosen,
  onChoose,
}: {
  table: Table
  linked: TableCopyPreview['linked']
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
}) {
  const tables = trpc.schema.tables.useQuery({ baseId: table.baseId })
  const [first] = useState(() => new Set(linked.map(({ id }) => id)))
  const limitId = useId()
  const room = MAX_COPIED_TABLES - 1 - chosen.size
  const fitting = linked.slice(0, Math.max(0, room))
  const others = tables.data?.filter(({ id, sourceId }) => id !== table.id && sourceId === table.sourceId)
  if (others?.length === 0) return null
  const ranked = others?.toSorted((a, b) => Number(first.has(b.id)) - Number(first.has(a.id)))
  return (
    <fieldset className={styles.tables}>
      <legend className={styles.legend}>{m.copies_further_tables()}</legend>
      {tables.error && !tables.data ? (
        <QueryError title={m.copies_tables_load_failed()} query={tables} />
      ) : !ranked ? (
        <Skeleton height={40} />
      ) : (
        <>
          {linked.length > 0 && (
            <Button
              size="small"
              disabled={fitting.length === 0}
              aria-describedby={fitting.length < linked.length ? limitId : undefined}
              onClick={() => onChoose(new Set([...chosen, ...fitting.map(({ id }) => id)]))}
            >
              {fitting.length === linked.length || fitting.length === 0
                ? m.copies_choose_linked_tables({ count: linked.length })
                : m.copies_choose_some_linked_tables({ some: fitting.length, count: linked.length })}
            </Button>
          )}
          {fitting.length < linked.length && (
            <p id={limitId} className={styles.text}>
              {m.copies_tables_limit({ max: MAX_COPIED_TABLES })}
            </p>
          )}
          <div className={styles.list}>
            {ranked.map(({ id, title }) => (
              <Checkbox
                key={id}
                label={title}
                checked={chosen.has(id)}
                disabled={!chosen.has(id) && chosen.size + 1 >= MAX_COPIED_TABLES}
                onChange={(isChosen) => {
                  const after = new Set(chosen)
                  if (isChosen) after.add(id)
                  else after.delete(id)
                  onChoose(after)
                }}
              />
            ))}
          </div>
        </>
      )}
    </fieldset>
  )
}

/** What becomes of record ids, of the fields that are not copied as they are, and of tables that stay. */
function FieldNotes({
  preview: { fields, lost, keepsIds },
  isOfOne,
  withHistory,
}: {
  preview: TableCopyPreview
  isOfOne: boolean
  withHistory: boolean
}) {
  const named = ({ title, tableTitle }: Pick<LostField, 'title' | 'tableTitle'>) =>
    m.copies_field_of_table({ field: title, table: tableTitle })
  const fieldsThat = (isMeant: (field: CopiedField) => boolean): string =>
    fields
      .filter(isMeant)
      .map((field) => (isOfOne ? field.title : named(field)))
      .join(', ')
  const lostThat = (effect: LostField['effect']): string =>
    lost
      .filter((field) => field.effect === effect)
      .map(named)
      .join(', ')
  const values = fieldsThat(({ effect }) => effect === 'values')
  const left = fieldsThat(({ effect }) => effect === 'left')
  const unlogged = withHistory ? fieldsThat(({ losesHistory }) => losesHistory) : ''
  const [deleted, broken] = [lostThat('deleted'), lostThat('broken')]
  return (
    <div data-testid="copied-fields" className={styles.notes}>
      <p className={styles.text}>{keepsIds ? m.copies_to_base_hint() : m.copies_to_base_hint_new_ids()}</p>
      {values !== '' && <p className={styles.text}>{m.copies_fields_become_values({ fields: values })}</p>}
      {left !== '' && <p className={styles.text}>{m.copies_fields_left_out({ fields: left })}</p>}
      {unlogged !== '' && <p className={styles.text}>{m.copies_fields_lose_history({ fields: unlogged })}</p>}
      {deleted !== '' && <p className={styles.text}>{m.copies_links_lost({ fields: deleted })}</p>}
      {broken !== '' && <p className={styles.text}>{m.copies_fields_broken({ fields: broken })}</p>}
    </div>
  )
}
