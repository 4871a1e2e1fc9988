import { Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import type { Person } from '../../../src/core/model.ts'
import { createFormerPeople, FormerPeopleProvider } from '../../cells/former-people.ts'
import { DisplayFieldProvider } from '../../cells/linked-names.ts'
import { PeopleProvider } from '../../cells/people.ts'
import { t } from '../../i18n.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, isMissing, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import { TableSkeleton } from '../shell/table-skeleton.tsx'
import { KIND_SCREENS } from '../views/kinds/index.ts'
import { useCurrentSchema } from './use-current-schema.ts'
import { useDisplayField } from './use-display-field.ts'
import { useRecentView } from './use-recent-view.ts'

export interface TableScreenProps {
  baseId: string
  tableId: string
  /** Absent: the table's default view. */
  viewId?: string
  /** The record that is open beside the grid. */
  rowId?: string
}

const NOBODY: Person[] = []

const FORMER_PEOPLE = createFormerPeople((tableId, ids) => api.records.formerPeople.query({ tableId, ids }))

/** A table in one of its views: the grid with its toolbar, and the open record. */
export function TableScreen({ baseId, tableId, viewId, rowId }: TableScreenProps) {
  const { query, schema } = useCurrentSchema(tableId)
  const base = trpc.bases.get.useQuery({ baseId })
  const people = trpc.records.people.useQuery({ baseId }).data ?? NOBODY
  const byId = useMemo(() => new Map(people.map((person) => [person.id, person])), [people])

  const shownViews = schema?.views
  const view = viewId
    ? shownViews?.find((one) => one.id === viewId)
    : (shownViews?.find((one) => one.isDefault) ?? shownViews?.[0])
  useRecentView(schema, view)

  if (isMissing(query.error)) return <Gone baseId={baseId} title={t('This table no longer exists')} />
  if (!schema || !base.data) {
    const failed = [query, base].find((query) => query.error)
    if (!failed) return <TableSkeleton />
    return (
      <ErrorState
        title={t('The table could not be loaded')}
        error={failed.error}
        onRetry={() => void failed.refetch()}
      />
    )
  }
  const { views } = schema
  if (!view) {
    return (
      <Gone
        baseId={baseId}
        title={t('This view was deleted or is hidden from you')}
        onOpenTable={viewId && views.length > 0 ? () => goTo(paths.table(baseId, tableId)) : undefined}
      />
    )
  }
  const Screen = KIND_SCREENS[view.kind]
  return (
    <DisplayFieldProvider value={useDisplayField}>
      <PeopleProvider value={byId}>
        <FormerPeopleProvider value={FORMER_PEOPLE}>
          <h1 className="visually-hidden">
            {t('{table}: {view}', { table: schema.table.title, view: view.title })}
          </h1>
          <Screen
            // Another view begins afresh: its own records, scroll and selection.
            key={view.id}
            schema={schema}
            saved={view}
            role={base.data.role}
            people={people}
            rowId={rowId}
          />
        </FormerPeopleProvider>
      </PeopleProvider>
    </DisplayFieldProvider>
  )
}

function Gone({ baseId, title, onOpenTable }: { baseId: string; title: string; onOpenTable?: () => void }) {
  return (
    <EmptyState icon={Trash2} title={title} text={t('It may have been deleted, or the link is incomplete.')}>
      {onOpenTable ? (
        <Button variant="primary" onClick={onOpenTable}>
          {t('Open table')}
        </Button>
      ) : (
        <Button variant="primary" onClick={() => goTo(paths.base(baseId))}>
          {t('Open base')}
        </Button>
      )}
    </EmptyState>
  )
}
