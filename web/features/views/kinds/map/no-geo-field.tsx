import { MapPinPlus } from 'lucide-react'
import { t } from '../../../../i18n.ts'
import { Button } from '../../../../ui/button.tsx'
import { EmptyState } from '../../../../ui/states.tsx'
import { can, type TableContext } from '../../../records/table-context.ts'
import { draftOf, withType } from '../../../schema/field-draft.ts'

/** What a map shows of a table that says nothing of places. */
export function NoGeoField({ context }: { context: TableContext }) {
  const mayAdd = can(context, 'field.create')
  return (
    <EmptyState
      icon={MapPinPlus}
      title={t('This table has no field of places')}
      text={
        mayAdd
          ? t(
              'A field of the type “Geo data” holds a latitude and a longitude. Its records stand on the map.',
            )
          : t('Whoever may change the fields of this table can add one of the type “Geo data”.')
      }
    >
      {mayAdd && (
        <Button
          variant="primary"
          icon={MapPinPlus}
          onClick={(event) =>
            context.editField({
              field: null,
              anchor: event.currentTarget,
              start: { ...withType(draftOf(null), 'GeoData'), title: t('Place') },
            })
          }
        >
          {t('Add a field of places')}
        </Button>
      )}
    </EmptyState>
  )
}
