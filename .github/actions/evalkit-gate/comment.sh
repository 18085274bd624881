#!/usr/bin/env bash
# Writes the verdict into one comment on the pull request: the one that this token wrote before, found by the hidden key
# in its first line, or else a new one. Where it may not, as in pull requests from forks, a warning says so: the verdict
# is in the summary of the step all the same.
set -euo pipefail

give_up() {
    echo "::warning title=evalkit gate::$1; the verdict is in the summary of the job"
    exit 0
}

[[ "${GATE_PULL_REQUEST:-}" =~ ^[1-9][0-9]{0,17}$ ]] || give_up "the input 'pull-request' is no number"
[[ -f "${GATE_MARKDOWN:-}" ]] || give_up "there is no Markdown to show"
IFS= read -r key < "$GATE_MARKDOWN" || true
[[ "$key" =~ ^'<!-- evalkit-gate: '[A-Za-z0-9._/-]+' -->'$ ]] || give_up "the Markdown has no key"

# Only comments of this token's own: one that somebody else wrote under the same key could be changed by them later.
comments='query($owner: String!, $name: String!, $number: Int!, $endCursor: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      comments(first: 100, after: $endCursor) {
        nodes { id body viewerDidAuthor }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}'
update='mutation($id: ID!, $body: String!) {
  updateIssueComment(input: {id: $id, body: $body}) { issueComment { url } }
}'
ours=".data.repository.pullRequest.comments.nodes[] | select(.viewerDidAuthor and (.body | startswith(\"$key\"))) | .id"

found="$(gh api graphql --paginate -f query="$comments" -f owner="${GITHUB_REPOSITORY%%/*}" \
    -f name="${GITHUB_REPOSITORY#*/}" -F number="$GATE_PULL_REQUEST" --jq "$ours")" ||
    give_up "the comments on the pull request cannot be read"
id="${found%%$'\n'*}"

if [[ -n "$id" ]]; then
    gh api graphql -f query="$update" -f id="$id" -F body=@"$GATE_MARKDOWN" --silent ||
        give_up "the comment on the pull request cannot be updated"
else
    gh api "repos/$GITHUB_REPOSITORY/issues/$GATE_PULL_REQUEST/comments" -F body=@"$GATE_MARKDOWN" --silent ||
        give_up "no comment can be written on the pull request"
fi
