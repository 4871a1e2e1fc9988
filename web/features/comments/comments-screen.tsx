import { MessageSquare } from 'lucide-react'
import { useEffect } from 'react'
import type { Person } from '../../../src/core/model.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { useParams } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { onComment, onReconnect } from '../../socket.ts'
import { timeZone } from '../../time-zone.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import { askedComment } from '../records/context/asked-comment.ts'
import styles from './comments.module.css'

const RichText = lazyPart(() => import('../../rich-text/rich-text.tsx'), 'RichText')

type OpenThread = Outputs['comments']['inbox']['threads'][number]

/** The open threads of a base, newest first. */
export function CommentsScreen() {
  const { baseId = '' } = useParams()
  useDocumentTitle(m.comments_comments())
  const pages = trpc.comments.inbox.useInfiniteQuery(
    { baseId, timeZone },
    { getNextPageParam: ({ next }) => next ?? undefined, staleTime: 0 },
  )
  const { refetch } = pages
  useEffect(() => {
    const read = () => void refetch()
    const stop = [
      onComment((news) => {
        if (news.baseId === baseId) read()
      }),
      onReconnect(read),
    ]
    return () => {
      for (const end of stop) end()
    }
  }, [baseId, refetch])
  const threads = pages.data?.pages.flatMap((page) => page.threads)
  const people = new Map(
    pages.data?.pages.flatMap((page) => page.people).map((person) => [person.id, person]),
  )
  return (
    <Main className={`${lists.screen} ${styles.screen}`}>
      <h1 className={lists.heading}>{m.comments_comments()}</h1>
      {pages.error && !pages.data ? (
        <QueryError title={m.comments_load_failed()} query={pages} />
      ) : threads?.length === 0 && !pages.hasNextPage ? (
        <EmptyState
          icon={MessageSquare}
          title={m.comments_nothing_open()}
          text={m.comments_nothing_open_text()}
        />
      ) : (
        <ul className={lists.list} aria-busy={pages.isPending} data-testid="open-threads">
          {threads?.map((thread) => (
            <ThreadRow key={thread.comment.id} baseId={baseId} thread={thread} people={people} />
          )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={64} />)}
        </ul>
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {m.history_show_older()}
        </Button>
      )}
    </Main>
  )
}

interface ThreadRowProps {
  baseId: string
  thread: OpenThread
  people: ReadonlyMap<string, Person>
}

const nameOf = (person: Person | undefined): string =>
  person ? person.displayName || person.email : m.records_someone()

function ThreadRow({ baseId, thread, people }: ThreadRowProps) {
  const { comment, replies, recordTitle, tableTitle } = thread
  const { tableId, recordId, fieldId } = comment
  const { authorName } = comment
  const person = authorName === null ? people.get(comment.createdBy) : undefined
  const path = `${paths.table(baseId, tableId)}?rowId=${encodeURIComponent(recordId)}`
  return (
    <li className={styles.thread}>
      {person ? <Avatar person={person} size={28} /> : <span className={lists.nobody} />}
      <div className={styles.main}>
        <p className={lists.facts}>
          <strong dir="auto" className={styles.author}>
            {authorName ?? nameOf(person)}
          </strong>
          <time
            dateTime={comment.createdAt}
            data-tip={new Date(comment.createdAt).toLocaleString(localeTag())}
          >
            {formatAgo(comment.createdAt)}
          </time>
          {replies > 0 && <span>{m.comments_replies_count({ count: replies })}</span>}
        </p>
        <a
          href={hrefOf(path)}
          className={styles.record}
          dir="auto"
          onClick={() => askedComment.setState({ tableId, recordId, fieldId }, true)}
        >
          {m.comments_record_in_table({
            record: recordTitle || m.common_record_id({ id: recordId }),
            table: tableTitle,
          })}
        </a>
        <RichText text={comment.text} className={styles.text} nameOf={(id) => nameOf(people.get(id))} />
      </div>
    </li>
  )
}
