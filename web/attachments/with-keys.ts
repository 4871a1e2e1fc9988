import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { keyed } from '../ui/keyed.ts'

/** Files with keys by their address, so that each keeps its key in another order. */
export const withKeys = (items: readonly AttachmentItem[]) =>
  keyed(items, ({ path, url }) => path ?? url ?? '')
