import { MapPinPlus } from 'lucide-react'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { EmptyState } from '../../../../ui/states.tsx'
import { can, type TableContext } from '../../../records/context/table-context.ts'
import { draftOf, withType } from '../../../schema/field-draft.ts'

/** What a map shows of a table that says nothing of places. */
export function NoGeoField({ context }: { context: TableContext }) {
  const mayAdd = can(context, 'field.create')
  return (
    <EmptyState
      icon={MapPinPlus}
      title={m.map_table_no_location_field()}
      text={mayAdd ? m.map_location_field_hint() : m.map_ask_base_creator_add_geo()}
    >
      {mayAdd && (
        <Button
          variant="primary"
          icon={MapPinPlus}
          onClick={(event) =>
            context.editField({
              field: null,
              anchor: event.currentTarget,
              start: { ...withType(draftOf(null), 'GeoData'), title: m.common_place() },
            })
          }
        >
          {m.map_add_location_field()}
        </Button>
      )}
    </EmptyState>
  )
}
