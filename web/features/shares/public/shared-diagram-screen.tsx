import { m } from '../../../messages.gen.ts'
import { useParams } from '../../../navigation/router.tsx'
import { trpc } from '../../../trpc.ts'
import { Main } from '../../../ui/main.tsx'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import { ErdView } from '../../erd/erd-view.tsx'
import styles from './public-share.module.css'
import { ShareGate, ShareHeader } from './share-gate.tsx'

/** Shared diagram of tables, fields and links. */
export function SharedDiagramScreen() {
  const { linkId = '' } = useParams()
  return (
    <ShareGate kind="erd" linkId={linkId}>
      {({ title }) => <SharedDiagram title={title} />}
    </ShareGate>
  )
}

function SharedDiagram({ title }: { title: string }) {
  const diagram = trpc.shares.diagram.useQuery()
  return (
    <Main className={styles.screen}>
      <ShareHeader title={title} description={null} />
      {diagram.error && <QueryError title={m.shares_diagram_load_failed()} query={diagram} />}
      {diagram.data && <ErdView diagram={diagram.data} title={title} />}
      {!diagram.data && !diagram.error && <Skeleton height={240} />}
    </Main>
  )
}
