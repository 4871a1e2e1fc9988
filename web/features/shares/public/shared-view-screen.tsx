import { useMemo } from 'react'
import type { Person } from '../../../../src/core/model.ts'
import type { BaseRole } from '../../../../src/core/roles.ts'
import type { OpenedShare } from '../../../../src/core/shares.ts'
import { collectsAnswers } from '../../../../src/core/views/index.ts'
import { createFormerPeople, FormerPeopleProvider, PeopleProvider } from '../../../cells/people-context.ts'
import { m } from '../../../messages.gen.ts'
import { useParams, useSearch } from '../../../navigation/router.tsx'
import { api, trpc } from '../../../trpc.ts'
import { Main } from '../../../ui/main.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { TableSkeleton } from '../../layout/table-skeleton.tsx'
import { KIND_SCREENS } from '../../views/kinds/index.ts'
import { ViewIcon } from '../../views/manage/kind-info.tsx'
import { DownloadButton } from './download-button.tsx'
import styles from './public-share.module.css'
import { ShareGate, ShareHeader } from './share-gate.tsx'
import { ClosedPage } from './share-pages.tsx'

const NOBODY: Person[] = []

/** Role for the UI; the server restricts visitors further. */
const ROLE: BaseRole = 'viewer'

/** Shared view with its records. */
export function SharedViewScreen() {
  const { linkId = '' } = useParams()
  const { rowId } = useSearch()
  return (
    <ShareGate kind="view" linkId={linkId}>
      {(opened) => <SharedView opened={opened} linkId={linkId} rowId={rowId} />}
    </ShareGate>
  )
}

function SharedView({ opened, linkId, rowId }: { opened: OpenedShare; linkId: string; rowId?: string }) {
  const { baseId, tableId, settings } = opened
  const schema = trpc.schema.table.useQuery({ tableId: tableId ?? '' })
  const people = trpc.records.people.useQuery({ baseId }).data ?? NOBODY
  const byId = useMemo(() => new Map(people.map((person) => [person.id, person])), [people])
  const former = useMemo(
    () => createFormerPeople((tableId, ids) => api.records.formerPeople.query({ tableId, ids })),
    [],
  )
  const [view] = schema.data?.views ?? []
  if (view && collectsAnswers(view)) {
    location.replace(`/form${location.hash}`)
    return null
  }
  if (schema.data && !view) return <ClosedPage />
  const Screen = view ? KIND_SCREENS[view.kind] : null
  return (
    <Main className={styles.screen}>
      <ShareHeader
        title={opened.title}
        description={view?.description ?? null}
        icon={view && <ViewIcon view={view} />}
      >
        {settings.allowDownload && schema.data && view && (
          <DownloadButton
            address={`/api/v1/db/public/shared-view/${encodeURIComponent(linkId)}/rows/export`}
            title={opened.title}
          />
        )}
      </ShareHeader>
      {schema.error && <QueryError title={m.shares_records_load_failed()} query={schema} />}
      {Screen && schema.data && view ? (
        <PeopleProvider value={byId}>
          <FormerPeopleProvider value={former}>
            <Screen schema={schema.data} saved={view} role={ROLE} people={people} rowId={rowId} />
          </FormerPeopleProvider>
        </PeopleProvider>
      ) : (
        !schema.error && <TableSkeleton />
      )}
    </Main>
  )
}
