/** The tooltip of a table or view in the tree: its description, or its title where that is cut off. */
export const tipOf = ({ title, description }: { title: string; description: string | null }) =>
  description ? { 'data-tip': `${title}\n${description}` } : { 'data-tip': title, 'data-tip-clipped': true }
