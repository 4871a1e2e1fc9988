import { MapPinPlus } from 'lucide-react'
import { t } from '../../../../i18n.ts'
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
      title={t('This table has no location field')}
      text={
        mayAdd
          ? t('A geo data field stores latitude and longitude. Records with a value appear on the map.')
          : t('Ask a base creator to add a geo data field.')
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
          {t('Add location field')}
        </Button>
      )}
    </EmptyState>
  )
}
