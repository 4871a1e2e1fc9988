import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { keyed } from '../ui/keyed.ts'

/** Files with keys by path or URL, which they keep when reordered. */
export const withKeys = (items: readonly AttachmentItem[]) =>
  keyed(items, ({ path, url }) => path ?? url ?? '')
