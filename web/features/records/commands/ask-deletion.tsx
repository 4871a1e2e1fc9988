import type { RecordId } from '../../../../src/core/model.ts'
import type { Selection } from '../../../../src/core/query.ts'
import { t, tn } from '../../../i18n.ts'
import { api, type Outputs } from '../../../trpc.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { toast } from '../../../ui/toast.ts'

type Effect = Outputs['records']['effectsOfDeletion'][number]

/** Most ids that one question may name. */
const MAX_IDS = 10_000

/**
 * Asks before records of a connected database are deleted, where its foreign keys change other records with them;
 * says so at once where they forbid it. True where the records may be deleted.
 *
 * @throws what the server refused with
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
    toast.error({ text: `${t('The database does not allow this:')} ${blocking.map(lineOf).join('; ')}` })
    return false
  }
  if (effects.length === 0) return true
  return confirm({
    title: tn('Delete 1 record?', 'Delete {n} records?', count),
    confirmLabel: tn('Delete record', 'Delete records', count),
    danger: true,
    text: (
      <>
        <p>{t('The database’s foreign keys also change records that refer to them:')}</p>
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
      return tn(
        '1 record of "{table}" is deleted too',
        '{n} records of "{table}" are deleted too',
        count,
        names,
      )
    case 'SET NULL':
      return tn(
        '1 record of "{table}" loses its link',
        '{n} records of "{table}" lose their link',
        count,
        names,
      )
    case 'SET DEFAULT':
      return tn(
        '1 record of "{table}" gets the default link',
        '{n} records of "{table}" get the default link',
        count,
        names,
      )
    case 'RESTRICT':
    case 'NO ACTION':
      return tn('1 record of "{table}" refers to it', '{n} records of "{table}" refer to it', count, names)
  }
}
