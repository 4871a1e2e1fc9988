import { Share2 } from 'lucide-react'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { NotFoundScreen } from '../layout/not-found-screen.tsx'
import { openDiagramShare } from '../shares/open-share-dialog.tsx'
import styles from './erd-view.module.css'
import { ErdView } from './erd-view.tsx'

/** The diagram of a base; with `tableId` in the URL, of a table and the tables linked with it. */
export function ErdScreen() {
  const { baseId = '', sourceId } = useParams()
  const search = useSearch()
  const opened = trpc.bases.get.useQuery({ baseId })
  const base = opened.data
  const diagram = trpc.schema.diagram.useQuery({ baseId })
  const maySeeSources = base !== undefined && roleCan(base.role, 'source.list')
  const listed = trpc.sources.list.useQuery({ baseId }, { enabled: maySeeSources }).data ?? []
  useDocumentTitle(base && m.erd_relations_of_title({ title: base.title }))
  const failed = [diagram, opened].find(({ error, data }) => error && !data)
  if (failed) return <QueryError title={m.erd_diagram_could_not_loaded()} query={failed} />
  if (!diagram.data || !base) return <ErdSkeleton />
  const { tables } = diagram.data
  const isOfBase = (id: string) =>
    [...listed, ...tables.map((table) => ({ id: table.sourceId }))].some((one) => one.id === id)
  if (sourceId !== undefined && !isOfBase(sourceId)) return <NotFoundScreen />
  const sources = listed.map((source) => ({ id: source.id, title: source.alias ?? m.erd_this_base() }))
  return (
    <>
      <h1 className="visually-hidden">{m.erd_relations_of_title({ title: base.title })}</h1>
      <ErdView
        // Resets the options for another table or source.
        key={`${search.tableId} ${sourceId}`}
        diagram={diagram.data}
        title={base.title}
        tableId={tables.some(({ id }) => id === search.tableId) ? search.tableId : undefined}
        sourceId={sourceId}
        sources={sources}
        onOpenTable={(tableId) => goTo(paths.table(baseId, tableId))}
        tools={
          roleCan(base.role, 'base.share') &&
          sources.length > 0 && (
            <Button
              size="small"
              icon={Share2}
              onClick={() => openDiagramShare(currentFirst(sources, sourceId), base.title)}
            >
              {m.erd_share_diagram()}
            </Button>
          )
        }
      />
    </>
  )
}

/** The sources, the one on screen first. */
const currentFirst = <T extends { id: string }>(sources: readonly T[], sourceId: string | undefined): T[] =>
  [...sources].sort((a, b) => Number(b.id === sourceId) - Number(a.id === sourceId))

/** Placeholder of the toolbar and some boxes. */
function ErdSkeleton() {
  return (
    <div className={styles.screen} aria-busy="true">
      <div className={styles.toolbar}>
        <Skeleton width={190} height={28} />
        <Skeleton width={110} height={20} />
      </div>
      <div className={styles.bones}>
        {[168, 120, 220, 144].map((height) => (
          <Skeleton key={height} width={240} height={height} />
        ))}
      </div>
    </div>
  )
}
