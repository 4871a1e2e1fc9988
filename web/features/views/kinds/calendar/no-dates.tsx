import { CalendarOff, Plus } from 'lucide-react'
import type { Field } from '../../../../../src/core/model.ts'
import { isDated } from '../../../../../src/core/views/index.ts'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { EmptyState } from '../../../../ui/states.tsx'

/** Fields that are offered as buttons; the others are in the menu "Dates". */
const OFFERED = 4

export interface NoDatesProps {
  fields: readonly Field[]
  onChoose: (fieldId: string) => void
  /** Absent where the person may not add fields. */
  onAddField?: (anchor: Element) => void
}

/** What stands instead of a calendar that does not know by which dates. */
export function NoDates({ fields, onChoose, onAddField }: NoDatesProps) {
  const dated = fields.filter(isDated)
  // What a table keeps of its own is a last resort, but it is one.
  const offered = [...dated.filter((field) => !field.isSystem), ...dated.filter((field) => field.isSystem)]
  const hasOwn = dated.some((field) => !field.isSystem)
  return (
    <EmptyState
      icon={CalendarOff}
      title={hasOwn ? m.calendar_choose_a_date_field() : m.calendar_table_no_date_field()}
      text={hasOwn ? undefined : m.calendar_date_field_hint()}
    >
      {!hasOwn && onAddField && (
        <Button variant="primary" icon={Plus} onClick={(click) => onAddField(click.currentTarget)}>
          {m.calendar_add_a_date_field()}
        </Button>
      )}
      {offered.slice(0, OFFERED).map((field, at) => (
        <Button
          key={field.id}
          variant={hasOwn && at === 0 ? 'primary' : 'secondary'}
          onClick={() => onChoose(field.id)}
        >
          {field.title}
        </Button>
      ))}
    </EmptyState>
  )
}
