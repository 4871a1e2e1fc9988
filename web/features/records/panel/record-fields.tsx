import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import { CELLS } from '../../../cells/index.ts'
import { m } from '../../../messages.gen.ts'
import { Button } from '../../../ui/button.tsx'
import type { fieldsInOrder } from '../../views/state/arrange-fields.ts'
import { fileTarget } from '../commands/file-target.ts'
import { linkTarget } from '../commands/link-target.ts'
import { createOption } from '../commands/record-commands.ts'
import { can, type GetContext, type TableContext } from '../context/table-context.ts'
import { RecordField } from './record-field.tsx'
import styles from './record-panel.module.css'

/** The fields of a record, those that the view hides folded away. */
export function RecordFields(props: {
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
          {m.records_hidden_fields_count({ count: hidden.length })}
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
