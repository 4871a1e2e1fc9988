import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, FieldResult } from '../../../src/core/model.ts'
import { ComputedView } from '../../cells/computed.tsx'
import look from '../../cells/formula-look.module.css'
import { messageOf, plainMessage } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { timeZone } from '../../time-zone.ts'
import { trpc } from '../../trpc.ts'
import { Skeleton } from '../../ui/states.tsx'
import styles from './formula.module.css'

/** Records that a formula is tried on. */
const ROWS = 3

interface FormulaPreviewProps {
  tableId: string
  fieldId: string | undefined
  /** The formula with titles. */
  formula: string
  /** False while it is being written, or has problems. */
  isReady: boolean
  /** How the result is shown, where that has been chosen. */
  result?: FieldResult
}

/** What the formula gives for the first records, worked out by the database itself. */
export function FormulaPreview({ tableId, fieldId, formula, isReady, result }: FormulaPreviewProps) {
  const isAsked = isReady && formula.trim() !== ''
  const preview = trpc.records.previewFormula.useQuery(
    { tableId, formula, timeZone, limit: ROWS, ...(fieldId !== undefined && { fieldId }) },
    { enabled: isAsked, staleTime: 0, retry: false, placeholderData: (before) => before },
  )
  const schema = trpc.schema.table.useQuery({ tableId })
  const { data } = preview
  const name = schema.data?.fields.find(({ isDisplay }) => isDisplay)
  if (preview.error && isAsked) {
    return (
      <p role="alert" className={styles.problem}>
        {messageOf(preview.error)}
      </p>
    )
  }
  return (
    <section className={styles.preview} aria-label={m.formula_result()} data-testid="formula-preview">
      <h3>{m.formula_result()}</h3>
      {!data && isAsked && <Skeleton height={60} />}
      {!data && !isAsked && <p>{m.formula_result_first_records_appears_here()}</p>}
      {data && !data.ok && (
        <p role="alert" className={styles.problem}>
          {plainMessage(data.problems[0]?.message ?? '')}
        </p>
      )}
      {data?.ok && data.page.rows.length === 0 && <p>{m.formula_no_records_yet()}</p>}
      {data?.ok && data.page.rows.length > 0 && name && (
        <table className={look.values} data-stale={!isAsked || preview.isPlaceholderData || undefined}>
          <tbody>
            {data.page.rows.map(([title, value], index) => (
              <tr key={data.page.ids[index]}>
                <th scope="row">
                  <bdi>
                    {titleOf(name, title ?? null) || m.common_record_id({ id: String(data.page.ids[index]) })}
                  </bdi>
                </th>
                <td data-testid="formula-result">
                  {value === null || value === undefined ? (
                    <span className={styles.none}>{m.common_empty()}</span>
                  ) : (
                    <ComputedView
                      value={value}
                      field={{ ...name, result: result ?? data.result, error: null }}
                      options={{}}
                      variant="grid"
                      lines={1}
                      width={null}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const titleOf = ({ type, options, result }: Field, value: string | number | boolean | null): string =>
  fieldType(result?.type ?? type).format(value, result?.options ?? options)
