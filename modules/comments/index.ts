/** Comments on records and single cells: threads of one level, reactions, and what is open in a base. */

export { commentsRest } from './rest/index.ts'
export { commentsRouter } from './router.ts'
export { type CommentsService, createCommentsService } from './service.ts'
export type { CommentRow, ReactionRow } from './store.ts'
