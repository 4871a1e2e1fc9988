import { type CellValue, completeOptions } from '../../src/core/fields/field-type.ts'
import { formulaOf } from '../../src/core/fields/formula.ts'
import { storedReferences, toShown } from '../../src/core/formula/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { messageOf } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { timeZone } from '../time-zone.ts'
import { trpc } from '../trpc.ts'
import { Dialog } from '../ui/overlays.ts'
import { ErrorState, Skeleton } from '../ui/states.tsx'
import { cellOf } from './cell.ts'
import { coloured } from './coloured.ts'
import styles from './explain-formula.module.css'
import look from './formula-look.module.css'

interface ExplainFormulaProps {
  field: Field
  value: CellValue
  /** The cell's record; null if it is not stored yet. */
  recordId: RecordId | null
  onClose: () => void
}

/** Explains a cell's value: the formula and the record's values of the fields in it. */
export function ExplainFormula({ field, value, recordId, onClose }: ExplainFormulaProps) {
  const { tableId } = field
  const schema = trpc.schema.table.useQuery({ tableId })
  const record = trpc.records.get.useQuery(
    { tableId, recordId: recordId ?? 0, timeZone },
    { enabled: recordId !== null, staleTime: 0, retry: false },
  )
  const { formula } = formulaOf(field)
  const named = storedReferences(formula).flatMap(
    (id) => schema.data?.fields.find((one) => one.id === id) ?? [],
  )
  return (
    <Dialog title={field.title} onClose={onClose}>
      <div className={styles.explain} data-testid="explain-formula">
        {schema.error ? (
          <ErrorState title={m.cells_formula_load_failed()} error={schema.error} />
        ) : !schema.data ? (
          <Skeleton height={60} />
        ) : (
          <pre className={`${styles.shown} ${look.coloured}`} dir="ltr">
            {coloured(toShown(formula, schema.data.fields), []).map(({ text, kind, from }) => (
              <span key={from} data-kind={kind}>
                {text}
              </span>
            ))}
          </pre>
        )}
        {field.error !== null && (
          <p role="alert" className={styles.problem}>
            {field.error}
          </p>
        )}
        {record.error && (
          <p role="alert" className={styles.problem}>
            {messageOf(record.error)}
          </p>
        )}
        <table className={look.values}>
          <tbody>
            {named.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  <bdi>{one.title}</bdi>
                </th>
                <td>
                  {record.data ? (
                    <Value field={one} value={record.data.values[one.id] ?? null} />
                  ) : (
                    record.isLoading && <Skeleton />
                  )}
                </td>
              </tr>
            ))}
            <tr data-result>
              <th scope="row">{m.cells_result()}</th>
              <td>
                <Value field={field} value={value} />
              </td>
            </tr>
          </tbody>
        </table>
      </div>
    </Dialog>
  )
}

function Value({ field, value }: { field: Field; value: CellValue }) {
  const { View, type } = cellOf(field.type)
  if (value === null) return <span className={styles.none}>{m.common_empty()}</span>
  const options = completeOptions(type, field.options)
  return <View value={value} field={field} options={options} variant="grid" lines={2} width={null} />
}
