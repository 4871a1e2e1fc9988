import { Check, EllipsisVertical, RotateCcw, SmilePlus, X } from 'lucide-react'
import { type KeyboardEvent, useCallback, useId, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { MAX_COMMENT_LENGTH, REACTIONS, type RecordComment } from '../../../../src/core/comments.ts'
import { createId } from '../../../../src/core/ids.ts'
import type { Person, RecordId } from '../../../../src/core/model.ts'
import { formatAgo, localeTag } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { holdReload, lazyPart } from '../../../navigation/lazy-screen.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { focusOnMount } from '../../../ui/composite.tsx'
import { confirm } from '../../../ui/confirm.tsx'
import { openMenu } from '../../../ui/menu.tsx'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import { type AskedComment, askedComment } from '../context/asked-comment.ts'
import { can, fieldOf, type TableContext } from '../context/table-context.ts'
import styles from './record-comments.module.css'
import { type Comments, type Thread, useComments } from './use-comments.ts'
import { toEdited, toStored, useMentions } from './use-mentions.tsx'

const RichText = lazyPart(() => import('../../../rich-text/rich-text.tsx'), 'RichText')

interface RecordCommentsProps {
  context: TableContext
  recordId: RecordId
  /** The cell that the next comment is about, if somebody asked to comment on one. */
  asked: AskedComment | null
}

/** The comments of a record in threads, and a field for a new one. */
export function RecordComments({ context, recordId, asked }: RecordCommentsProps) {
  const comments = useComments(context.schema.table.id, recordId, context.people)
  const [showsResolved, setShowsResolved] = useState(false)
  const { query, threads } = comments
  if (query.error && !query.data) return <QueryError title={m.comments_load_failed()} query={query} />
  const open = threads.filter(({ comment }) => comment.resolvedBy === null)
  const resolved = threads.filter(({ comment }) => comment.resolvedBy !== null)
  const mayWrite = can(context, 'comment.create')
  const field = fieldOf(context, asked?.fieldId ?? null)
  return (
    <div className={styles.panel}>
      <div className={styles.list} aria-busy={query.isPending || undefined}>
        {query.isPending && <Skeleton height={60} />}
        {!query.isPending && threads.length === 0 && (
          <p className={styles.none}>{mayWrite ? m.comments_none_write() : m.comments_none()}</p>
        )}
        {resolved.length > 0 && (
          <Button
            size="small"
            variant="ghost"
            aria-expanded={showsResolved}
            onClick={() => setShowsResolved(!showsResolved)}
          >
            {showsResolved
              ? m.comments_hide_resolved()
              : m.comments_show_resolved({ count: resolved.length })}
          </Button>
        )}
        <ol className={styles.threads} aria-label={m.comments_comments()}>
          {(showsResolved ? threads : open).map((thread) => (
            <ThreadView
              key={thread.comment.id}
              thread={thread}
              comments={comments}
              context={context}
              mayWrite={mayWrite}
            />
          ))}
        </ol>
      </div>
      {mayWrite && (
        <Composer
          key={asked?.fieldId ?? ''}
          draftKey={`${comments.me} ${context.schema.table.id} ${recordId}`}
          people={context.people}
          label={m.comments_new_comment()}
          placeholder={m.comments_placeholder()}
          send={m.comments_send()}
          autoFocus={asked !== null}
          about={field?.title}
          onAboutRecord={() => askedComment.setState((now) => now && { ...now, fieldId: null }, true)}
          onSend={(text, id) => comments.write(id, text, { fieldId: field?.id ?? null })}
        />
      )}
    </div>
  )
}

interface ThreadProps {
  thread: Thread
  comments: Comments
  context: TableContext
  mayWrite: boolean
}

function ThreadView({ thread, comments, context, mayWrite }: ThreadProps) {
  const [isReplying, setReplying] = useState(false)
  const { comment, replies } = thread
  const field = fieldOf(context, comment.fieldId)
  const isResolved = comment.resolvedBy !== null
  const mayModerate = can(context, 'comment.moderate')
  return (
    <li className={styles.thread} data-resolved={isResolved || undefined} data-testid="comment-thread">
      {field && (
        <p className={styles.field} dir="auto">
          {field.title}
        </p>
      )}
      <CommentView
        comment={comment}
        comments={comments}
        mayWrite={mayWrite}
        mayModerate={mayModerate}
        isReply={false}
      />
      {isResolved && (
        <p className={styles.note}>
          {m.comments_resolved_by({ name: comments.nameOf(comment.resolvedBy ?? '') })}
        </p>
      )}
      {replies.length > 0 && (
        <ol className={styles.replies} aria-label={m.comments_replies()}>
          {replies.map((reply) => (
            <li key={reply.id}>
              <CommentView
                comment={reply}
                comments={comments}
                mayWrite={mayWrite}
                mayModerate={mayModerate}
                isReply
              />
            </li>
          ))}
        </ol>
      )}
      {mayWrite &&
        (isReplying ? (
          <Composer
            people={context.people}
            label={m.comments_reply()}
            placeholder={m.comments_reply_placeholder()}
            send={m.comments_reply()}
            autoFocus
            draftKey={`${comments.me} reply ${comment.id}`}
            onCancel={() => setReplying(false)}
            onSend={async (text, id) => {
              setReplying(false)
              const isSent = await comments.write(id, text, { parentId: comment.id })
              if (!isSent) setReplying(true)
              return isSent
            }}
          />
        ) : (
          <Button size="small" variant="ghost" onClick={() => setReplying(true)}>
            {m.comments_reply()}
          </Button>
        ))}
    </li>
  )
}

interface CommentProps {
  comment: RecordComment
  comments: Comments
  mayWrite: boolean
  mayModerate: boolean
  isReply: boolean
}

function CommentView({ comment, comments, mayWrite, mayModerate, isReply }: CommentProps) {
  const [isEditing, setEditing] = useState(false)
  const { authorName } = comment
  const person = authorName === null ? comments.people.get(comment.createdBy) : undefined
  const isOwn = comment.createdBy === comments.me
  const isResolved = comment.resolvedBy !== null
  const at = new Date(comment.createdAt)
  const remove = async () => {
    const isSure = await confirm({
      title: m.comments_delete_question(),
      text: isReply ? m.comments_delete_reply_text() : m.comments_delete_text(),
      confirmLabel: m.comments_delete(),
      danger: true,
    })
    if (isSure) await comments.remove(comment.id)
  }
  return (
    <article className={styles.comment} data-testid="comment">
      {person ? <Avatar person={person} size={24} /> : <span className={styles.nobody} />}
      <div className={styles.main}>
        <header className={styles.head}>
          <strong dir="auto">{authorName ?? comments.nameOf(comment.createdBy)}</strong>
          <time
            dateTime={comment.createdAt}
            className={styles.when}
            data-tip={at.toLocaleString(localeTag())}
          >
            {formatAgo(comment.createdAt)}
          </time>
          {authorName !== null && (
            <span
              className={styles.when}
              data-tip={m.comments_imported_by({ name: comments.nameOf(comment.createdBy) })}
            >
              {m.comments_imported()}
            </span>
          )}
          {comment.updatedAt !== null && <span className={styles.when}>{m.comments_edited()}</span>}
          <span className={styles.tools}>
            {mayWrite && (
              <IconButton
                icon={SmilePlus}
                size="small"
                iconSize={14}
                label={m.comments_react()}
                onClick={({ currentTarget }) =>
                  openMenu(
                    currentTarget,
                    REACTIONS.map((emoji) => {
                      const isMine = hasReacted(comment, emoji, comments.me)
                      return {
                        kind: 'action' as const,
                        label: emoji,
                        checked: isMine,
                        toggles: true,
                        run: () => void comments.react(comment.id, emoji, !isMine),
                      }
                    }),
                    m.comments_react(),
                  )
                }
              />
            )}
            {mayWrite && !isReply && (
              <IconButton
                icon={isResolved ? RotateCcw : Check}
                size="small"
                iconSize={14}
                label={isResolved ? m.comments_open_again() : m.comments_resolve()}
                onClick={() => void comments.resolve(comment.id, !isResolved)}
              />
            )}
            {mayWrite && (isOwn || mayModerate) && (
              <IconButton
                icon={EllipsisVertical}
                size="small"
                iconSize={14}
                label={m.comments_actions()}
                onClick={({ currentTarget }) =>
                  openMenu(
                    currentTarget,
                    [
                      ...(isOwn && authorName === null
                        ? [
                            {
                              kind: 'action' as const,
                              label: m.comments_edit(),
                              run: () => setEditing(true),
                            },
                          ]
                        : []),
                      {
                        kind: 'action',
                        label: m.comments_delete(),
                        tone: 'danger',
                        run: () => void remove(),
                      },
                    ],
                    m.comments_actions(),
                  )
                }
              />
            )}
          </span>
        </header>
        {isEditing ? (
          <Composer
            people={comments.members}
            label={m.comments_edit_comment()}
            placeholder=""
            send={m.common_save()}
            value={comment.text}
            autoFocus
            draftKey={`${comments.me} edit ${comment.id}`}
            onCancel={() => setEditing(false)}
            onSend={async (text) => {
              setEditing(false)
              const isSent = text === comment.text || (await comments.update(comment.id, text))
              if (!isSent) setEditing(true)
              return isSent
            }}
          />
        ) : (
          <RichText text={comment.text} className={styles.text} nameOf={comments.nameOf} />
        )}
        {comment.reactions.length > 0 && (
          <p className={styles.reactions}>
            {comment.reactions.map(({ emoji, userIds }) => {
              const isMine = hasReacted(comment, emoji, comments.me)
              const names = userIds.map(comments.nameOf).join(', ')
              return (
                <button
                  key={emoji}
                  type="button"
                  className={styles.reaction}
                  aria-pressed={isMine}
                  aria-label={m.comments_reaction_by({ emoji, names })}
                  data-tip={names}
                  disabled={!mayWrite}
                  onClick={() => void comments.react(comment.id, emoji, !isMine)}
                >
                  {emoji} {userIds.length}
                </button>
              )
            })}
          </p>
        )}
      </div>
    </article>
  )
}

const hasReacted = ({ reactions }: RecordComment, emoji: string, me: string | null): boolean =>
  me !== null && (reactions.find((one) => one.emoji === emoji)?.userIds.includes(me) ?? false)

interface Draft {
  text: string
  /** The id of the comment that it was sent as, without an answer: the server recognizes it. */
  sentAs?: string
}

/** What is typed and not sent, by user and place: kept while another tab or record is shown. */
const drafts = createStore<Readonly<Record<string, Draft>>>(() => ({}))
holdReload(() => Object.values(drafts.getState()).some(({ text }) => text.trim() !== ''))

function removeDraft(key: string): void {
  const { [key]: _removed, ...others } = drafts.getState()
  drafts.setState(others, true)
}

interface ComposerProps {
  draftKey: string
  /** Those who can be mentioned. */
  people: readonly Person[]
  label: string
  placeholder: string
  /** Label of the button. */
  send: string
  value?: string
  autoFocus?: boolean
  /** Title of the field of the commented cell. */
  about?: string | undefined
  /** Makes it a comment on the whole record. */
  onAboutRecord?: () => void
  /** Takes the text and the id for a new comment; false if it was refused, which puts it back. */
  onSend: (text: string, id: string) => Promise<boolean>
  onCancel?: () => void
}

/** A field for a comment's Markdown: Enter sends, Shift+Enter breaks the line, Escape cancels. */
function Composer(props: ComposerProps) {
  const {
    draftKey,
    people,
    label,
    placeholder,
    send,
    value = '',
    autoFocus,
    about,
    onAboutRecord,
    onSend,
    onCancel,
  } = props
  const draft = useStore(drafts, (all) => all[draftKey])
  const text = draft?.text ?? toEdited(value, people)
  const type = (next: string) => drafts.setState({ [draftKey]: { text: next } })
  const area = useRef<HTMLTextAreaElement>(null)
  const attach = useCallback(
    (element: HTMLTextAreaElement | null) => {
      area.current = element
      if (autoFocus) focusOnMount(element)
    },
    [autoFocus],
  )
  const mentions = useMentions(area, people, type)
  const hint = useId()
  const submit = async () => {
    const sent = text.trim()
    if (sent === '') return
    const sentAs = draft?.sentAs ?? createId('comment')
    removeDraft(draftKey)
    if (await onSend(toStored(sent, people), sentAs)) return
    // The next comment may have been begun meanwhile.
    const begun = drafts.getState()[draftKey]?.text
    drafts.setState({ [draftKey]: begun ? { text: `${sent}\n\n${begun}` } : { text: sent, sentAs } })
  }
  const cancel = () => {
    removeDraft(draftKey)
    onCancel?.()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || mentions.onKeyDown(event)) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      void submit()
    } else if (event.key === 'Escape' && (onCancel || text !== '')) {
      event.preventDefault()
      event.stopPropagation()
      cancel()
    }
  }
  return (
    <div className={styles.composer}>
      {about !== undefined && (
        <p className={styles.about}>
          <span dir="auto">{m.comments_about_field({ field: about })}</span>
          <IconButton
            icon={X}
            size="small"
            iconSize={12}
            label={m.comments_about_record()}
            onClick={onAboutRecord}
          />
        </p>
      )}
      <textarea
        ref={attach}
        {...mentions.area}
        className={styles.area}
        dir="auto"
        rows={2}
        aria-label={label}
        aria-describedby={hint}
        placeholder={placeholder}
        maxLength={MAX_COMMENT_LENGTH}
        value={text}
        onChange={(event) => {
          type(event.target.value)
          mentions.follow()
        }}
        onSelect={mentions.follow}
        onKeyDown={onKeyDown}
      />
      {mentions.list}
      <div className={styles.foot}>
        <span id={hint} className={styles.hint}>
          {m.comments_enter_sends()}
        </span>
        {onCancel && (
          <Button size="small" variant="ghost" onClick={cancel}>
            {m.common_cancel()}
          </Button>
        )}
        <Button size="small" variant="primary" disabled={text.trim() === ''} onClick={() => void submit()}>
          {send}
        </Button>
      </div>
    </div>
  )
}
