import type { RecordId } from '../../../../src/core/model.ts'
import type { Selection } from '../../../../src/core/query.ts'
import { m } from '../../../messages.gen.ts'
import { api, type Outputs } from '../../../trpc.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { toast } from '../../../ui/toast.ts'

/** Count of records to delete, and how many of them the search or filter hides. */
export interface RecordDeletion {
  table: string
  count: number
  hidden: number
}

/** Confirms deleting many records or hidden ones; true when confirmed. */
export const confirmDeletion = ({ table, count, hidden }: RecordDeletion): Promise<boolean> =>
  confirm({
    title: m.records_delete_records_confirm({ count }),
    text: (
      <>
        {hidden > 0 && (
          <p data-testid="hidden-records">
            <strong>{m.records_not_view_search_filter_hides({ count: hidden })}</strong>
          </p>
        )}
        <p>{m.records_delete_records_consequences({ table })}</p>
      </>
    ),
    confirmLabel: m.records_delete_records_count({ count }),
    danger: true,
  })

type Effect = Outputs['records']['effectsOfDeletion'][number]

/** Most ids per request. */
const MAX_IDS = 10_000

/**
 * Confirms deleting records of a connected database when its foreign keys change other records;
 * reports it when they forbid the deletion. True when the records may be deleted.
 *
 * @throws the server's error
 */
export async function askDeletion(
  selection: Omit<Selection, 'recordIds'> & { recordIds?: readonly RecordId[] },
  count: number,
): Promise<boolean> {
  const recordIds = selection.recordIds?.slice(0, MAX_IDS)
  const effects = await api.records.effectsOfDeletion.query({
    selection: { ...selection, ...(recordIds && { recordIds }) } as Selection,
  })
  const blocking = effects.filter(refuses)
  if (blocking.length > 0) {
    toast.error({ text: `${m.records_database_does_not_allow()} ${blocking.map(lineOf).join('; ')}` })
    return false
  }
  if (effects.length === 0) return true
  return confirm({
    title: m.records_delete_records_confirm({ count }),
    confirmLabel: m.records_delete_records({ count }),
    danger: true,
    text: (
      <>
        <p>{m.records_databases_foreign_keys_also_change()}</p>
        <ul data-testid="deletion-effects" style={{ listStyle: 'disc', paddingInlineStart: 20 }}>
          {effects.map((effect) => (
            <li key={`${effect.table} ${effect.rule}`} dir="auto">
              {lineOf(effect)}
            </li>
          ))}
        </ul>
      </>
    ),
  })
}

const refuses = ({ rule }: Effect): boolean => rule === 'RESTRICT' || rule === 'NO ACTION'

function lineOf({ table, count, rule }: Effect): string {
  const names = { table }
  switch (rule) {
    case 'CASCADE':
      return m.records_records_table_deleted_too({ count, ...names })
    case 'SET NULL':
      return m.records_records_table_lose_link({ count, ...names })
    case 'SET DEFAULT':
      return m.records_records_table_get_default_link({ count, ...names })
    case 'RESTRICT':
    case 'NO ACTION':
      return m.records_records_table_refer({ count, ...names })
  }
}
